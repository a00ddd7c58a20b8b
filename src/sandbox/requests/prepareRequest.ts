import { refused } from '../errors.js';
import { latestMicros } from '../wire/values.js';
import { type Cursor, readDuration, readIdentifier, readLedgerString, readTimestamp, undecodable } from './Cursor.js';

/** A command that the sandbox can run. */
type Command =
  | { readonly kind: 'create'; readonly templateId: string; readonly createArguments: unknown }
  | { readonly kind: 'archive'; readonly templateId: string; readonly contractId: string };

/** What a prepare request asks for. */
export interface Submission {
  readonly commandId: string;
  readonly party: string;
  /** `''` for any. */
  readonly synchronizerId: string;
  /** In microseconds since the epoch, as all times of a prepared transaction. */
  readonly minLedgerTime: number | undefined;
  readonly maxRecordTime: number | undefined;
  readonly command: Command;
}

/** The hashing schemes that requests may name, as far as the releases served here know them. */
export const hashingSchemes: readonly string[] = [
  'HASHING_SCHEME_VERSION_UNSPECIFIED',
  'HASHING_SCHEME_VERSION_V2',
  'HASHING_SCHEME_VERSION_V3',
];

/** The earliest ledger time asked for, in microseconds since the epoch. */
export function readMinLedgerTime(cursor: Cursor): number | undefined {
  const time = cursor.field('time');
  if (time.absent) return undefined;
  const [kind, content] = time.oneOf();
  if (kind === 'Empty') return undefined;
  if (kind === 'MinLedgerTimeAbs') return readTimestamp(content.required('value'));
  if (kind === 'MinLedgerTimeRel') {
    const micros = Math.round((Date.now() + readDuration(content.required('value'))) * 1000);
    if (Math.abs(micros) <= latestMicros) return micros;
  }
  throw undecodable(`Unknown variant or time ${kind} at '${time.at}'`);
}

/** Reads the body of a prepare request: one command of one party. */
export function readPrepare(body: Cursor): Submission & { readonly hashingSchemeVersion: string } {
  const commandId = readLedgerString(body.required('commandId'));
  const [command, ...otherCommands] = body.required('commands').list();
  const [party, ...otherParties] = body.required('actAs').list();
  body.required('packageIdSelectionPreference').list();
  const synchronizerId = body.required('synchronizerId').string();
  const scheme = body.field('hashingSchemeVersion').optional((version) => version.oneOfStrings(hashingSchemes));
  if (command === undefined) throw missing('commands');
  if (party === undefined) throw missing('act_as');
  if (otherCommands.length > 0) throw single('command');
  if (otherParties.length > 0) throw single('acting party');
  // read for their form only: no party reads more here than it acts as, and users are not told apart
  body.field('userId').string();
  for (const reader of body.field('readAs').list()) reader.string();
  return {
    commandId,
    party: party.string(),
    synchronizerId,
    hashingSchemeVersion: scheme?.replace('UNSPECIFIED', 'V2') ?? 'HASHING_SCHEME_VERSION_V2',
    minLedgerTime: body.field('minLedgerTime').optional(readMinLedgerTime),
    maxRecordTime: body.field('maxRecordTime').optional(readTimestamp),
    command: readCommand(command),
  };
}

function missing(field: string) {
  return refused('MISSING_FIELD', `The submitted command is missing a mandatory field: ${field}`);
}

function single(what: string) {
  return refused('FAILED_TO_PREPARE_TRANSACTION', `Only one ${what} per submission is supported`);
}

/** A command in wire form. There is no Daml engine here: of the choices, only `Archive` can be run. */
function readCommand(cursor: Cursor): Command {
  const [kind, content] = cursor.oneOf();
  if (kind === 'CreateCommand') {
    const createArguments = content.required('createArguments').value;
    return { kind: 'create', templateId: readIdentifier(content.required('templateId')), createArguments };
  }
  if (kind === 'ExerciseCommand' && content.required('choice').string() === 'Archive') {
    const contractId = content.required('contractId').string();
    return { kind: 'archive', templateId: readIdentifier(content.required('templateId')), contractId };
  }
  throw refused('FAILED_TO_PREPARE_TRANSACTION', 'The sandbox runs CreateCommand and ExerciseCommand of Archive only');
}
