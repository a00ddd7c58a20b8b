import * as t from 'io-ts';
import { isRecord } from './isRecord.js';
import { message, type FieldsOf } from './message.js';

/**
 * A {@link message} that refuses fields it does not know. For requests: a field that is misspelt would otherwise be
 * ignored by the ledger, and what it should have asked for would be missing without a word.
 */
export function exact<A extends object>(
  name: string,
  fields: FieldsOf<A> & Readonly<Record<string, t.Mixed>>,
): t.Type<A, unknown> {
  const open = message<A>(name, fields);
  const unknownFields = (u: unknown): string[] =>
    isRecord(u) ? Object.keys(u).filter((key) => !Object.hasOwn(fields, key)) : [];
  return new t.Type<A, unknown, unknown>(
    name,
    (u): u is A => open.is(u) && unknownFields(u).length === 0,
    (u, context) => {
      const unknown = unknownFields(u).flatMap((key) =>
        fail(u, t.appendContext(context, key, t.never), 'no such field here'),
      );
      const result = open.validate(u, context);
      if (unknown.length === 0) return result;
      return t.failures(result._tag === 'Left' ? [...unknown, ...result.left] : unknown);
    },
    (a) => open.encode(a),
  );
}

const fail = (value: unknown, context: t.Context, text: string): t.Errors => [{ value, context, message: text }];
