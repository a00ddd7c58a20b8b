import type * as t from 'io-ts';
import { scalar } from './scalar.js';

/** A whole number within bounds that `JSON.parse` has certainly not rounded; `expected` is what a failure says. */
export const whole = (name: string, least: number, most: number, expected: string): t.Type<number> =>
  scalar(
    name,
    (u): u is number => typeof u === 'number' && Number.isSafeInteger(u) && u >= least && u <= most,
    `${name}, ${expected}`,
  );
