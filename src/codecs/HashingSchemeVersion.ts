import type * as t from 'io-ts';
import { scalar } from './internal/scalar.js';

/**
 * How the hash that is signed was built: `HASHING_SCHEME_VERSION_V2`, `HASHING_SCHEME_VERSION_V3` (3.5), or the newer
 * version that `prepare` answered, which is passed on as it is.
 */
export type HashingSchemeVersion = 'HASHING_SCHEME_VERSION_UNSPECIFIED' | `HASHING_SCHEME_VERSION_V${number}`;

const is = (u: unknown): u is HashingSchemeVersion =>
  typeof u === 'string' && /^HASHING_SCHEME_VERSION_(UNSPECIFIED|V[1-9]\d{0,3})$/.test(u);

/** Codec of `HashingSchemeVersion`. */
export const HashingSchemeVersion: t.Type<HashingSchemeVersion> = scalar(
  'HashingSchemeVersion',
  is,
  'HASHING_SCHEME_VERSION_V2, _V3 or newer',
);
