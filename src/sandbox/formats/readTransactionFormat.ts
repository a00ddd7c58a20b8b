import type { Cursor } from '../decoding/Cursor.js';
import { refused } from '../errors/refused.js';
import type { SandboxProfile } from '../SandboxProfile.js';
import { readEventFormat } from './readEventFormat.js';
import type { TransactionFormat } from './TransactionFormat.js';

const ledgerEffects = 'TRANSACTION_SHAPE_LEDGER_EFFECTS';
const unspecified = 'TRANSACTION_SHAPE_UNSPECIFIED';
const shapes = [unspecified, 'TRANSACTION_SHAPE_ACS_DELTA', ledgerEffects];

/** A transaction format; both of its fields are needed. */
export function readTransactionFormat(cursor: Cursor, profile: SandboxProfile): TransactionFormat {
  const shape = cursor.required('transactionShape').oneOfStrings(shapes);
  const events = cursor.field('eventFormat').optional((format) => readEventFormat(format, profile));
  if (events === undefined) throw missing('event_format');
  if (shape === unspecified) throw missing('transaction_shape');
  return { events, ledgerEffects: shape === ledgerEffects };
}

function missing(field: string) {
  return refused('MISSING_FIELD', `The submitted command is missing a mandatory field: ${field}`);
}
