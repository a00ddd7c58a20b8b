import type * as t from 'io-ts';
import { matching } from './internal/matching.js';

/** An identifier chosen by a client, such as a submission id: 1 to 255 of the characters `A-Z a-z 0-9 # : - _ /` and space. */
export type LedgerString = string;

/** Codec of `LedgerString`. */
export const LedgerString: t.Type<LedgerString, LedgerString> = matching(
  'LedgerString',
  /^[A-Za-z0-9#:\-_/ ]+$/,
  255,
  '1 to 255 of A-Z a-z 0-9 # : - _ / and space',
);
