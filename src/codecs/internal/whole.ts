import type * as t from 'io-ts';
import { isPlain, type Plain } from './Plain.js';
import { scalar } from './scalar.js';

/** A whole number within bounds that `JSON.parse` has certainly not rounded; `expected` is what a failure says. */
export function whole(name: string, least: number, most: number, expected: string): t.Type<number> {
  const plain: Plain = { kind: 'whole', least, most };
  return scalar(name, (u): u is number => isPlain(plain, u), `${name}, ${expected}`, plain);
}
