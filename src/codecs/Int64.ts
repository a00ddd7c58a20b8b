import type * as t from 'io-ts';
import { whole } from './internal/whole.js';

/** A whole number, int32 or int64 on the wire, between -(2^53 - 1) and 2^53 - 1. */
export type Int64 = number;

/** Codec of `Int64`. A number that `JSON.parse` may have rounded is a failure. */
export const Int64: t.Type<Int64> = whole('Int64', -Infinity, Infinity, 'a whole number within 2^53 - 1');
