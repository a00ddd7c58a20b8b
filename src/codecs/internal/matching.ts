import type * as t from 'io-ts';
import { scalar } from './scalar.js';

/** A string of at most `max` characters that matches a pattern; `expected` is what a failure says. */
export const matching = (name: string, pattern: RegExp, max: number, expected: string): t.Type<string> =>
  scalar(name, (u): u is string => typeof u === 'string' && u.length <= max && pattern.test(u), `${name}, ${expected}`);
