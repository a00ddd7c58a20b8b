import type { EventFormat } from './EventFormat.js';

/** Which events of transactions are asked for, and in which of the two shapes. */
export interface TransactionFormat {
  readonly events: EventFormat;
  readonly ledgerEffects: boolean;
}
