import type * as t from 'io-ts';
import { Codec } from './Codec.js';
import { json } from './json.js';
import { optional } from './optional.js';

/** A field of a request that may be there, since the ledger's own answers have it, and is not sent. */
export const ignored: t.Type<unknown, unknown> = new Codec<unknown>(
  'ignored',
  optional(json).is,
  () => undefined,
  () => undefined,
);
