import * as t from 'io-ts';
import { isRecord } from './isRecord.js';

/** A request's `{"value": content}`, which keeps the wire's form. */
export const valued = <A>(content: t.Type<A, unknown>): t.Type<{ readonly value: A }, unknown> =>
  new t.Type<{ readonly value: A }, unknown, unknown>(
    `{ value: ${content.name} }`,
    (u): u is { readonly value: A } => isRecord(u) && Object.keys(u).length === 1 && content.is(u['value']),
    (u, context) => {
      const [key, ...more] = isRecord(u) ? Object.keys(u) : [];
      if (!isRecord(u) || key !== 'value' || more.length > 0)
        return t.failure(u, context, 'an object with one key, value');
      const result = content.validate(u['value'], t.appendContext(context, 'value', content, u['value']));
      return result._tag === 'Left' ? result : t.success({ value: result.right });
    },
    ({ value }) => ({ value: content.encode(value) }),
  );
