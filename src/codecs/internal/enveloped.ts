import * as t from 'io-ts';
import { isRecord } from './isRecord.js';

/** What stands alone under one key: `{"value": content}`, `{"update": content}`. Decodes to the content. */
export const enveloped = <A>(key: string, codec: t.Type<A, unknown>): t.Type<A, unknown> =>
  new t.Type<A, unknown, unknown>(
    `{ ${key}: ${codec.name} }`,
    (u): u is A => codec.is(u),
    (u, context) =>
      isRecord(u) ? codec.validate(u[key], t.appendContext(context, key, codec, u[key])) : t.failure(u, context),
    (a) => ({ [key]: codec.encode(a) }),
  );
