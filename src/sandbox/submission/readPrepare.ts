import type { Cursor } from '../decoding/Cursor.js';
import { readLedgerString } from '../decoding/readLedgerString.js';
import { readTimestamp } from '../decoding/readTimestamp.js';
import { refused } from '../errors/refused.js';
import type { Submission } from '../prepared/Submission.js';
import { hashingSchemes } from './hashingSchemes.js';
import { readCommand } from './readCommand.js';
import { readMinLedgerTime } from './readMinLedgerTime.js';

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
