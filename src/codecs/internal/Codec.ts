import * as t from 'io-ts';

/** Which values are right as they are: data, for whoever reads many and would not call a codec for each. */
export type Plain =
  | { readonly kind: 'text' | 'flag' | 'json' | 'texts' | 'none' }
  | { readonly kind: 'whole'; readonly least: number; readonly most: number };

/** No values. */
const none: Plain = { kind: 'none' };

/** Whether a value is one of those; `null` never is. */
export function isPlain(plain: Plain, value: unknown): boolean {
  switch (plain.kind) {
    case 'text':
      return typeof value === 'string';
    case 'texts':
      return Array.isArray(value) && areTexts(value);
    case 'whole':
      return isWhole(value) && plain.least <= value && value <= plain.most;
    case 'json':
      return value !== undefined && value !== null;
    case 'flag':
      return typeof value === 'boolean';
    case 'none':
      return false;
  }
}

/** Whether a value is a whole number that `JSON.parse` has certainly not rounded. */
const isWhole = (value: unknown): value is number => typeof value === 'number' && Number.isSafeInteger(value);

function areTexts(values: readonly unknown[]): boolean {
  for (const value of values) if (typeof value !== 'string') return false;
  return true;
}

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

/** Whether a value is a JSON object: not null, not an array. */
export const isRecord = (u: unknown): u is Record<string, unknown> =>
  typeof u === 'object' && u !== null && !Array.isArray(u);
