import type { Ledger } from '../ledger/Ledger.js';

/** A checkpoint in its envelope, for a stream that has been sent all up to an offset. */
export function checkpoint(offset: number, { recordTimes }: Ledger): object {
  return { update: { OffsetCheckpoint: { value: { offset, synchronizerTimes: recordTimes.all } } } };
}
