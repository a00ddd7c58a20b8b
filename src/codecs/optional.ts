import type * as t from 'io-ts';
import { Codec, plainOf, readerOf } from './internal/Codec.js';
import { list } from './internal/field.js';

/**
 * A codec of an `Optional` of Daml. Its values are `null` or an `A`, as in types of Daml's code generator.
 *
 * @category Contract types
 */
export interface OptionalCodec<A> extends t.Type<A | null, unknown> {
  /** The codec of a value that is not `None`. */
  readonly content: t.Type<A, unknown>;
}

/**
 * Returns the codec of an `Optional` of Daml, for a field, an element or a result.
 *
 * The ledger sends `None` as `null`, and omits a field that is `None` if all fields after it are. A field of an earlier
 * version of the package is absent, too. The codec decodes both to `null`, and encodes `null` and an absent field to `null`.
 *
 * In an `Optional` of an `Optional`, `Some` is a list, as in Daml JSON: `null` is `None`, `[]` is `Some None`, and `['a']`
 * is `Some (Some "a")`.
 *
 * @param codec - of the value that is not `None`
 * @example
 * ```ts
 * import { contractType, create, optional } from 'canton-rx';
 * import * as t from 'io-ts';
 *
 * const Note = contractType('#notes:Main:Note', t.type({ owner: t.string, text: optional(t.string) }));
 *
 * console.log(Note.decoder.run({ owner: 'alice::1220ab' }));
 * console.log(JSON.stringify(create(Note, { owner: 'alice::1220ab', text: null })));
 * // => { ok: true, result: { owner: 'alice::1220ab', text: null } }
 * // => {"CreateCommand":{"templateId":"#notes:Main:Note","createArguments":{"owner":"alice::1220ab","text":null}}}
 * ```
 * @category Contract types
 */
export function optional<A>(codec: OptionalCodec<A>): OptionalCodec<readonly [] | readonly [A]>;
export function optional<A>(codec: t.Type<A, unknown>): OptionalCodec<A>;
export function optional(codec: t.Mixed): object {
  return new Nullable(codec instanceof Nullable ? someOf(codec.content) : codec);
}

/** `Some` within an optional. */
const someOf = (content: t.Mixed): t.Mixed => list(content, 0, 1, '[] or [value]');

class Nullable<A> extends Codec<A | null> implements OptionalCodec<A> {
  constructor(readonly content: t.Type<A, unknown>) {
    const read = readerOf(content);
    super(
      `Optional<${content.name}>`,
      (u): u is A | null => u === null || content.is(u),
      (u, sink) => (u === undefined || u === null ? null : read(u, sink)),
      (a) => ((a as A | null | undefined) == null ? null : content.encode(a as A)),
      plainOf(content),
    );
  }
}
