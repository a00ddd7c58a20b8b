import type * as t from 'io-ts';
import { matching } from './internal/matching.js';

/**
 * A time in UTC as ISO 8601 text, `2026-07-24T10:00:00.123456Z`, with as many fraction digits as it needs. Stays text:
 * the ledger counts microseconds, `Date` does not.
 */
export type Timestamp = string;

/** Codec of `Timestamp`. */
export const Timestamp: t.Type<Timestamp, Timestamp> = matching(
  'Timestamp',
  /^[+-]?\d{4,9}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?Z$/,
  64,
  'ISO 8601 in UTC',
);
