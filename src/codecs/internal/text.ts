import type * as t from 'io-ts';
import { scalar } from './scalar.js';

/** A string. Stands for `t.string`, whose company of unused codecs a bundler cannot leave out. */
export const text: t.Type<string> = scalar('string', (u): u is string => typeof u === 'string', 'string', {
  kind: 'text',
});
