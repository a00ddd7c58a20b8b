import type * as t from 'io-ts';
import { scalar } from './scalar.js';

/** One of the given strings. */
export const oneOfStrings = <S extends string>(name: string, ...values: readonly S[]): t.Type<S> =>
  scalar(name, (u): u is S => values.some((value) => value === u), `one of ${values.join(', ')}`);
