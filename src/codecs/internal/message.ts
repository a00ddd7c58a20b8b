import * as t from 'io-ts';
import { isRecord } from './isRecord.js';

/** One codec a field; what may be absent in `A` takes a codec that says so: `optional`, `withDefault`. */
export type FieldsOf<A> = {
  readonly [K in keyof A]-?: object extends Pick<A, K> ? t.Type<A[K] | undefined, unknown> : t.Type<A[K], unknown>;
};

/**
 * A JSON object with the given fields. Fields that it does not know are kept, so that what a newer ledger adds reaches
 * the user; a field that decodes or encodes to `undefined` is left out.
 */
export function message<A extends object>(
  name: string,
  fields: FieldsOf<A> & Readonly<Record<string, t.Mixed>>,
): t.Type<A, unknown> {
  const codecs = Object.entries<t.Mixed>(fields);
  // every field of A is in its place when none of them failed
  const isComplete = (_decoded: object, errors: t.Errors): _decoded is A => errors.length === 0;
  return new t.Type<A, unknown, unknown>(
    name,
    (u): u is A => isRecord(u) && codecs.every(([key, codec]) => codec.is(u[key])),
    (u, context) => {
      if (!isRecord(u)) return t.failure(u, context);
      const errors: t.Errors = [];
      const decoded: Record<string, unknown> = { ...u };
      for (const [key, codec] of codecs) {
        const result = codec.validate(u[key], t.appendContext(context, key, codec, u[key]));
        if (result._tag === 'Left') errors.push(...result.left);
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
}

function put(object: Record<string, unknown>, key: string, value: unknown): void {
  // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- the keys are the codec's own, a handful
  if (value === undefined) delete object[key];
  else object[key] = value;
}
