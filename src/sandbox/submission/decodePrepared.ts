import { Cursor } from '../decoding/Cursor.js';
import { refused } from '../errors/refused.js';
import type { PreparedSubmission } from './PreparedSubmission.js';
import { readCommand } from './readCommand.js';

/** Reads the bytes of a prepared transaction back. */
export function decodePrepared(bytes: Buffer): PreparedSubmission {
  try {
    const cursor = new Cursor(JSON.parse(bytes.toString()));
    const text = (name: string) => cursor.required(name).string();
    return {
      userId: text('userId'),
      commandId: text('commandId'),
      party: text('party'),
      readAs: cursor
        .required('readAs')
        .list()
        .map((party) => party.string()),
      synchronizerId: text('synchronizerId'),
      hashingSchemeVersion: text('hashingSchemeVersion'),
      maxRecordTime: cursor.field('maxRecordTime').optional((time) => time.string()) ?? null,
      command: readCommand(cursor.required('command')),
    };
  } catch {
    throw refused('INVALID_ARGUMENT', 'Cannot parse prepared_transaction');
  }
}
