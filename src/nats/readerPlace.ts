import { isRecord } from '../codecs/internal/isRecord.js';

/** The name of a reader's record. */
export const readerPlace = (durable: string): string => `reader.${durable}`;

/** Up to where a reader has read, as its record says. */
export function placeOf(record: unknown): number | undefined {
  const sequence = isRecord(record) ? record['sequence'] : undefined;
  return typeof sequence === 'number' ? sequence : undefined;
}
