import type * as t from 'io-ts';
import { oneOfStrings } from './internal/oneOfStrings.js';

/**
 * `TRANSACTION_SHAPE_ACS_DELTA`: creations and archivals of contracts on which a requesting party is a stakeholder.
 * `TRANSACTION_SHAPE_LEDGER_EFFECTS`: creations and exercises that a requesting party is informed of.
 */
export type TransactionShape = 'TRANSACTION_SHAPE_ACS_DELTA' | 'TRANSACTION_SHAPE_LEDGER_EFFECTS';

/** Codec of `TransactionShape`. */
export const TransactionShape: t.Type<TransactionShape, TransactionShape> = oneOfStrings<TransactionShape>(
  'TransactionShape',
  'TRANSACTION_SHAPE_ACS_DELTA',
  'TRANSACTION_SHAPE_LEDGER_EFFECTS',
);
