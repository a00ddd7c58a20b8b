import { requestError } from '../errors.js';
import { maxMicros } from '../wire/values.js';
import {
  decodeError,
  type JsonCursor,
  missingField,
  readDuration,
  readIdentifier,
  readLedgerString,
  readTimestamp,
} from './JsonCursor.js';

/** The body of a prepare request. */
export interface PrepareRequest {
  readonly commandId: string;
  readonly party: string;
  /** `''` if the sandbox chooses one. */
  readonly synchronizerId: string;
  /** In microseconds since the epoch, like all times of a prepared transaction. */
  readonly minLedgerTime: number | undefined;
  readonly maxRecordTime: number | undefined;
  readonly command: Command;
}

/** A command that the sandbox supports. */
type Command =
  | { readonly kind: 'create'; readonly templateId: string; readonly createArguments: unknown }
  | {
      readonly kind: 'exercise';
      readonly templateId: string;
      readonly contractId: string;
      readonly choice: string;
      readonly choiceArgument: unknown;
    };

/** Reads the body of a prepare request, which has one command of one party. */
export function readPrepareRequest(body: JsonCursor): PrepareRequest & { readonly hashingSchemeVersion: string } {
  const commandId = readLedgerString(body.required('commandId'));
  const [command, ...otherCommands] = body.required('commands').list();
  const [party, ...otherParties] = body.required('actAs').list();
  body.required('packageIdSelectionPreference').list();
  const synchronizerId = body.required('synchronizerId').string();
  const scheme = body.field('hashingSchemeVersion').optional((version) => version.oneOfStrings(hashingSchemes));
  if (command === undefined) throw missingField('commands');
  if (party === undefined) throw missingField('act_as');
  if (otherCommands.length > 0) throw multipleNotSupported('command');
  if (otherParties.length > 0) throw multipleNotSupported('acting party');
  // decoded only: reading as other parties has no effect here, and the sandbox does not have users
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

function multipleNotSupported(what: string) {
  return requestError('FAILED_TO_PREPARE_TRANSACTION', `Only one ${what} per submission is supported`);
}

/** Reads a command. */
function readCommand(cursor: JsonCursor): Command {
  const [kind, content] = cursor.oneOf();
  if (kind === 'CreateCommand') {
    const createArguments = content.required('createArguments').value;
    return { kind: 'create', templateId: readIdentifier(content.required('templateId')), createArguments };
  }
  if (kind === 'ExerciseCommand') {
    return {
      kind: 'exercise',
      templateId: readIdentifier(content.required('templateId')),
      contractId: content.required('contractId').string(),
      choice: content.required('choice').string(),
      choiceArgument: content.field('choiceArgument').value ?? {},
    };
  }
  throw requestError('FAILED_TO_PREPARE_TRANSACTION', 'The sandbox supports only CreateCommand and ExerciseCommand');
}

/** Reads the minimum ledger time, in microseconds since the epoch. */
export function readMinLedgerTime(cursor: JsonCursor): number | undefined {
  const time = cursor.field('time');
  if (time.absent) return undefined;
  const [kind, content] = time.oneOf();
  if (kind === 'Empty') return undefined;
  if (kind === 'MinLedgerTimeAbs') return readTimestamp(content.required('value'));
  if (kind === 'MinLedgerTimeRel') {
    const micros = Math.round((Date.now() + readDuration(content.required('value'))) * 1000);
    if (Math.abs(micros) <= maxMicros) return micros;
  }
  throw decodeError(`Unknown variant or time ${kind} at '${time.at}'`);
}

/** The hashing schemes that the supported releases decode. */
export const hashingSchemes: readonly string[] = [
  'HASHING_SCHEME_VERSION_UNSPECIFIED',
  'HASHING_SCHEME_VERSION_V2',
  'HASHING_SCHEME_VERSION_V3',
];
