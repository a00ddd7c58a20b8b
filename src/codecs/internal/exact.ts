import type * as t from 'io-ts';
import { message, type FieldsOf } from './message.js';

/**
 * A {@link message} that refuses fields it does not know. For requests: a field that is misspelt would otherwise be
 * ignored by the ledger, and what it should have asked for would be missing without a word.
 */
export const exact = <A extends object>(name: string, fields: FieldsOf<A>): t.Type<A, unknown> =>
  message(name, fields, true);
