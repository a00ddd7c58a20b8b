import type * as t from 'io-ts';
import { defaulting } from './defaulting.js';
import { list } from './list.js';

/** A list of an answer; absent (3.3 leaves some out) and `null` are the empty list. */
export const repeated = <A>(item: t.Type<A, unknown>): t.Type<readonly A[], unknown> =>
  defaulting<readonly A[]>(list(item), []);
