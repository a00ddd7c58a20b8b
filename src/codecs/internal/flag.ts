import type * as t from 'io-ts';
import { scalar } from './scalar.js';

/** A boolean. Stands for `t.boolean`, whose company of unused codecs a bundler cannot leave out. */
export const flag: t.Type<boolean> = scalar('boolean', (u): u is boolean => typeof u === 'boolean', 'boolean', {
  kind: 'flag',
});
