import type * as t from 'io-ts';
import { exact } from './exact.js';

/** A request's `{"value": content}`, which keeps the wire's form. */
export const valued = <A>(content: t.Type<A, unknown>): t.Type<{ readonly value: A }, unknown> =>
  exact<{ readonly value: A }>(content.name, { value: content });
