import type * as t from 'io-ts';
import { lenient } from './lenient.js';

/** A field that an answer may leave out, with what that means. */
export const defaulting = <A>(codec: t.Type<A, unknown>, value: A): t.Type<A, unknown> => lenient(codec, value);
