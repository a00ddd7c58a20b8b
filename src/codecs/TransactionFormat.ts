import type * as t from 'io-ts';
import { EventFormat } from './EventFormat.js';
import { exact } from './internal/exact.js';
import { TransactionShape } from './TransactionShape.js';

/** Which events of transactions are asked for, and in which shape. */
export interface TransactionFormat {
  /** Whose events of which contracts. */
  readonly eventFormat: EventFormat;
  /** Changes of active contracts, or all effects. */
  readonly transactionShape: TransactionShape;
}

/** Codec of `TransactionFormat`. */
export const TransactionFormat: t.Type<TransactionFormat, unknown> = exact<TransactionFormat>('TransactionFormat', {
  eventFormat: EventFormat,
  transactionShape: TransactionShape,
});
