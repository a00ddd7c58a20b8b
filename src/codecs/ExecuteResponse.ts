import type * as t from 'io-ts';
import { enveloped } from './internal/enveloped.js';
import { Transaction } from './Transaction.js';

/** Codec of the answer to a submission, `{"transaction": {...}}`: decodes to the transaction itself. */
export const ExecuteResponse: t.Type<Transaction, unknown> = enveloped('transaction', Transaction);
