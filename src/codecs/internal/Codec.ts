import * as t from 'io-ts';
import { none, type Plain } from './Plain.js';

/** What reading gives in place of a value that is wrong. */
export const invalid: unique symbol = Symbol('invalid');

/** Where a value stands, and what is wrong so far: only on the second look at a value that is wrong. */
export interface Why {
  readonly context: t.Context;
  readonly errors: t.Errors;
}

/** Reads a value. Without a `why`, the first thing that is wrong ends it; with one, all of them are added. */
export type Read<A> = (u: unknown, why: Why | undefined) => A | typeof invalid;

/**
 * An io-ts codec that looks at a value once if it is right, and makes nothing but the decoded value then. Only a value
 * that is wrong is looked at once more, to say where and why.
 */
export class Codec<A, O = unknown> extends t.Type<A, O> {
  constructor(
    name: string,
    is: t.Is<A>,
    readonly read: Read<A>,
    encode: t.Encode<A, O>,
    /** What `read` gives back as it is; it may take and give more. `null` is never asked for. */
    readonly plain: Plain = none,
  ) {
    super(
      name,
      is,
      (u, context) => {
        const decoded = read(u, undefined);
        if (decoded !== invalid) return t.success(decoded);
        const errors: t.Errors = [];
        read(u, { context, errors });
        return t.failures(errors);
      },
      encode,
    );
  }
}

/** How a codec reads, also one that is not ours. */
export function readBy<A>(codec: t.Type<A, unknown>): Read<A> {
  if (isCodec(codec)) return codec.read;
  return (u, why) => {
    const result = codec.validate(u, why?.context ?? []);
    if (result._tag === 'Right') return result.right;
    for (const error of result.left) why?.errors.push(error);
    return invalid;
  };
}

/** The values, but `null`, that a codec takes as they are. */
export const plainOf = (codec: t.Mixed): Plain => (codec instanceof Codec ? codec.plain : none);

const isCodec = <A>(codec: t.Type<A, unknown>): codec is Codec<A> => codec instanceof Codec;

/** Says that a value is wrong; `message`, what would have been right, where the codec's name does not. */
export function wrong(value: unknown, why: Why | undefined, message?: string): typeof invalid {
  why?.errors.push({ value, context: why.context, ...(message !== undefined && { message }) });
  return invalid;
}

/** The same, of what stands under a key of it. */
export const under = (why: Why | undefined, key: string, codec: t.Mixed, value: unknown): Why | undefined =>
  why && { context: t.appendContext(why.context, key, codec, value), errors: why.errors };
