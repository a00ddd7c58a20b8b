import * as t from 'io-ts';

/** The `_tag` of a variant: ours, not the wire's, so it is put in when decoding and left out when encoding. */
export const tag = <T extends string>(name: T): t.Type<T, unknown> =>
  new t.Type<T, unknown, unknown>(
    `'${name}'`,
    (u): u is T => u === name,
    () => t.success(name),
    () => undefined,
  );
