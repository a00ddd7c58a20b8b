import * as t from 'io-ts';
import { json } from './json.js';
import { optional } from './optional.js';

/** A field of a request that may be there, since the ledger's own answers have it, and is not sent. */
export const ignored: t.Type<unknown, unknown> = new t.Type<unknown, unknown>(
  'ignored',
  optional(json).is,
  () => t.success(undefined),
  () => undefined,
);
