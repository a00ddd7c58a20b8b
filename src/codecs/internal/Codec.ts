import * as t from 'io-ts';

/** The values that a codec decodes to themselves. A caller that reads many values can skip `read` for them. */
export type Plain =
  | { readonly kind: 'text' | 'flag' | 'json' | 'texts' | 'none' }
  | { readonly kind: 'integer'; readonly min: number; readonly max: number };

/** No value at all. */
const none: Plain = { kind: 'none' };

/** Whether a value is plain; `null` never is. */
export function isPlain(plain: Plain, value: unknown): boolean {
  switch (plain.kind) {
    case 'text':
      return typeof value === 'string';
    case 'texts':
      return Array.isArray(value) && areTexts(value);
    case 'integer':
      return isSafeInteger(value) && plain.min <= value && value <= plain.max;
    case 'json':
      return value !== undefined && value !== null;
    case 'flag':
      return typeof value === 'boolean';
    case 'none':
      return false;
  }
}

/** Whether a value is an integer that `JSON.parse` cannot have rounded. */
const isSafeInteger = (value: unknown): value is number => typeof value === 'number' && Number.isSafeInteger(value);

function areTexts(values: readonly unknown[]): boolean {
  for (const value of values) if (typeof value !== 'string') return false;
  return true;
}

/** The result of reading an invalid value. */
export const invalid: unique symbol = Symbol('invalid');

/** Collects the errors of a value and the context of each. Only the second read of an invalid value has a sink. */
export interface ErrorSink {
  readonly context: t.Context;
  readonly errors: t.Errors;
}

/** Reads a value. Without a sink it stops at the first error; with one it reports all of them. */
export type Read<A> = (u: unknown, sink: ErrorSink | undefined) => A | typeof invalid;

/**
 * An io-ts codec that reads a valid value once and allocates only the decoded value. It reads an invalid value a second
 * time, to collect the errors.
 */
export class Codec<A, O = unknown> extends t.Type<A, O> {
  constructor(
    name: string,
    is: t.Is<A>,
    readonly read: Read<A>,
    encode: t.Encode<A, O>,
    /** The values that `read` returns unchanged, which never include `null`. `read` may accept other values, too. */
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

/** The `Read` of any io-ts codec. */
export function readerOf<A>(codec: t.Type<A, unknown>): Read<A> {
  if (isCodec(codec)) return codec.read;
  return (u, sink) => {
    const result = codec.validate(u, sink?.context ?? []);
    if (result._tag === 'Right') return result.right;
    for (const error of result.left) sink?.errors.push(error);
    return invalid;
  };
}

/** The plain values of any io-ts codec. */
export const plainOf = (codec: t.Mixed): Plain => (codec instanceof Codec ? codec.plain : none);

const isCodec = <A>(codec: t.Type<A, unknown>): codec is Codec<A> => codec instanceof Codec;

/**
 * Converts a value before a codec reads it, such as one that an earlier release sends in another form. Encodes to the
 * current form.
 */
export function adapt<A>(codec: t.Type<A, unknown>, convert: (u: unknown) => unknown): t.Type<A, unknown> {
  const read = readerOf(codec);
  return new Codec<A>(codec.name, codec.is, (u, sink) => read(convert(u), sink), codec.encode);
}

/** A conversion for {@link adapt}: an earlier release sends a field under another key. */
export const renameKey =
  (former: string, current: string) =>
  (u: unknown): unknown => {
    if (!isRecord(u) || !(former in u) || current in u) return u;
    const { [former]: value, ...others } = u;
    return { ...others, [current]: value };
  };

/** A conversion for {@link adapt}: an earlier release sends the index of a name. */
export const nameAt =
  (names: readonly string[]) =>
  (u: unknown): unknown =>
    (typeof u === 'number' ? names[u] : undefined) ?? u;

/** Reads an object without `key`, which only the current form has, in the former form. Encodes to the current one. */
export function withFormer<A>(
  name: string,
  key: string,
  current: t.Type<A, unknown>,
  former: t.Type<A, unknown>,
): t.Type<A, unknown> {
  const [readCurrent, readFormer] = [readerOf(current), readerOf(former)];
  return new Codec<A>(
    name,
    current.is,
    (u, sink) => (isRecord(u) && key in u ? readCurrent : readFormer)(u, sink),
    current.encode,
  );
}

/** Reports an error at a value. `message` describes the expected value. Default: the name of the codec. */
export function fail(value: unknown, sink: ErrorSink | undefined, message?: string): typeof invalid {
  sink?.errors.push({ value, context: sink.context, ...(message !== undefined && { message }) });
  return invalid;
}

/** The sink for the value under a key. */
export const atKey = (
  sink: ErrorSink | undefined,
  key: string,
  codec: t.Mixed,
  value: unknown,
): ErrorSink | undefined => sink && { context: t.appendContext(sink.context, key, codec, value), errors: sink.errors };

/** Whether a value is a JSON object: not null, not an array. */
export const isRecord = (u: unknown): u is Record<string, unknown> =>
  typeof u === 'object' && u !== null && !Array.isArray(u);
