import * as t from 'io-ts';
import { isRecord } from './isRecord.js';
import { addAll } from './addAll.js';

/**
 * A map of a request. Unlike `t.record`, which drops an entry whose key does not decode, it refuses the key: a party's
 * filter must not be lost without a word.
 */
export const mapOf = <A>(
  key: t.Type<string, string>,
  value: t.Type<A, unknown>,
): t.Type<Readonly<Record<string, A>>, unknown> =>
  new t.Type<Readonly<Record<string, A>>, unknown, unknown>(
    `{ [${key.name}]: ${value.name} }`,
    (u): u is Readonly<Record<string, A>> =>
      isRecord(u) && Object.entries(u).every(([k, content]) => key.is(k) && value.is(content)),
    (u, context) => {
      if (!isRecord(u)) return t.failure(u, context);
      const errors: t.Errors = [];
      const decoded: [string, A][] = [];
      for (const [k, content] of Object.entries(u)) {
        const name = key.validate(k, t.appendContext(context, k, key, k));
        const result = value.validate(content, t.appendContext(context, k, value, content));
        if (name._tag === 'Left') addAll(errors, name.left);
        if (result._tag === 'Left') addAll(errors, result.left);
        else decoded.push([k, result.right]);
      }
      return errors.length > 0 ? t.failures(errors) : t.success(Object.fromEntries(decoded));
    },
    (a) => Object.fromEntries(Object.entries(a).map(([k, content]) => [k, value.encode(content)])),
  );
