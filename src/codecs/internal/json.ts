import type * as t from 'io-ts';
import { scalar } from './scalar.js';

/** Any JSON value, `null` too; but it must be there. */
export const json: t.Type<unknown> = scalar('Json', (u): u is unknown => u !== undefined, 'a JSON value', {
  kind: 'json',
});
