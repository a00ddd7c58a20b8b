import type * as t from 'io-ts';
import { scalar } from './internal/scalar.js';

/** Bytes as standard, padded base64. */
export type Base64 = string;

// no repeated group in the pattern: it would overflow the stack of the engine on a few megabytes
const is = (u: unknown): u is Base64 =>
  typeof u === 'string' && u.length > 0 && u.length % 4 === 0 && !/[^A-Za-z0-9+/]/.test(u.replace(/={1,2}$/, ''));

/** Codec of `Base64`; the empty string is no bytes, which no field that uses it allows. */
export const Base64: t.Type<Base64> = scalar('Base64', is, 'padded Base64');
