import * as t from 'io-ts';
import { isRecord } from './isRecord.js';
import { addAll } from './addAll.js';

/** One codec a field; what may be absent in `A` takes a codec that says so: `optional`, `nullable`, `withDefault`. */
export type FieldsOf<A> = {
  readonly [K in keyof A]-?: object extends Pick<A, K> ? t.Type<A[K] | undefined, unknown> : t.Type<A[K], unknown>;
} & Readonly<Record<string, t.Mixed>>;

/**
 * A JSON object with the given fields. Fields that it does not know are kept, so that what a newer ledger adds reaches
 * the user, or refused, if it is `closed`. A field that decodes or encodes to `undefined` is left out.
 */
export function message<A extends object>(name: string, fields: FieldsOf<A>, closed = false): t.Type<A, unknown> {
  const codecs = Object.entries<t.Mixed>(fields);
  const strangers = (u: object): string[] =>
    closed ? Object.keys(u).filter((key) => !Object.hasOwn(fields, key)) : [];
  // every field of A is in its place when none of them failed
  const isComplete = (_decoded: object, errors: t.Errors): _decoded is A => errors.length === 0;
  const self: t.Type<A, unknown> = new t.Type<A, unknown>(
    name,
    (u): u is A => isRecord(u) && strangers(u).length === 0 && codecs.every(([key, codec]) => codec.is(u[key])),
    (u, context) => {
      if (!isRecord(u)) return t.failure(u, context);
      const errors: t.Errors = strangers(u).map((key) => ({
        value: u,
        context: t.appendContext(context, key, self),
        message: 'no such field here',
      }));
      const decoded: Record<string, unknown> = { ...u };
      for (const [key, codec] of codecs) {
        const result = codec.validate(u[key], t.appendContext(context, key, codec, u[key]));
        if (result._tag === 'Left') addAll(errors, result.left);
        else put(decoded, key, result.right);
      }
      return isComplete(decoded, errors) ? t.success(decoded) : t.failures(errors);
    },
    (a) => {
      if (!isRecord(a)) return a;
      const encoded: Record<string, unknown> = { ...a };
      for (const [key, codec] of codecs) put(encoded, key, codec.encode(encoded[key]));
      return encoded;
    },
  );
  return self;
}

function put(object: Record<string, unknown>, key: string, value: unknown): void {
  // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- the keys are the codec's own, a handful
  if (value === undefined) delete object[key];
  else object[key] = value;
}
