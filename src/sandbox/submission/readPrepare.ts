import type { Cursor } from '../decoding/Cursor.js';
import { readLedgerString } from '../decoding/readLedgerString.js';
import { refused } from '../errors/refused.js';
import { hashingSchemes } from './hashingSchemes.js';
import type { PreparedSubmission } from './PreparedSubmission.js';
import { readCommand } from './readCommand.js';

/** Reads the body of a prepare request: one command of one party. */
export function readPrepare(body: Cursor): PreparedSubmission {
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
  return {
    userId: body.field('userId').string(),
    commandId,
    party: party.string(),
    readAs: body
      .field('readAs')
      .list()
      .map((reader) => reader.string()),
    synchronizerId,
    hashingSchemeVersion: scheme?.replace('UNSPECIFIED', 'V2') ?? 'HASHING_SCHEME_VERSION_V2',
    maxRecordTime: body.field('maxRecordTime').optional((time) => time.string()) ?? null,
    command: readCommand(command),
  };
}

function missing(field: string) {
  return refused('MISSING_FIELD', `The submitted command is missing a mandatory field: ${field}`);
}

function single(what: string) {
  return refused('FAILED_TO_PREPARE_TRANSACTION', `Only one ${what} per submission is supported`);
}
