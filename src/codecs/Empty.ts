import type * as t from 'io-ts';
import { exact } from './internal/exact.js';

/** The wire's `{}`, a variant without content. */
export type Empty = Readonly<Record<string, never>>;

/** Codec of `Empty`. */
export const Empty: t.Type<Empty, unknown> = exact<Empty>('Empty', {});
