import type * as t from 'io-ts';
import { matching } from './internal/matching.js';

/** A party id, on Canton `hint::fingerprint`: 1 to 255 of the characters `A-Z a-z 0-9 : - _` and space. */
export type Party = string;

/** Codec of `Party`. */
export const Party: t.Type<Party, Party> = matching(
  'Party',
  /^[A-Za-z0-9:\-_ ]+$/,
  255,
  '1 to 255 of A-Z a-z 0-9 : - _ and space',
);
