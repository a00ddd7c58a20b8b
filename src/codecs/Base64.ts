import type * as t from 'io-ts';
import { matching } from './internal/matching.js';

/** Bytes as standard, padded base64. */
export type Base64 = string;

/** Codec of {@link (Base64:type)}; the empty string is no bytes, which no field that uses it allows. */
export const Base64: t.Type<Base64, Base64> = matching(
  'Base64',
  /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)$/,
  Number.MAX_SAFE_INTEGER,
  'Base64, standard and padded, not empty',
);
