import type * as t from 'io-ts';

/**
 * One reason why a value cannot be decoded. It never contains the value, which may be secret. The decoders of Daml's code
 * generator do not tell the keys of a map from the names of fields, so that their paths contain such keys.
 *
 * @category Values
 */
export interface Problem {
  /** Keys from the outside in, joined by dots; empty for the value itself. A key of a map, `t.record` in io-ts, is `*`. */
  readonly path: string;
  /** The expected value. */
  readonly expected: string;
}

/**
 * The errors of io-ts as problems, without the values.
 *
 * @category Values
 */
export const problemsOf = (errors: t.Errors): readonly Problem[] =>
  errors.map(({ context, message }) => ({
    path: context
      .map(({ key }, i) => (isMap(context[i - 1]?.type as Codec | undefined) ? '*' : key))
      .filter((key) => key !== '')
      .join('.'),
    expected: message ?? context.at(-1)?.type.name ?? '',
  }));

/** A codec of io-ts, as far as it is looked at here. Programs without codecs need not load io-ts. */
interface Codec {
  readonly _tag?: string;
  /** The codec that it wraps. */
  readonly type?: Codec;
}

/** Codecs that add no key of their own to a path. */
const wrappers: readonly (string | undefined)[] = ['RefinementType', 'ReadonlyType', 'ExactType', 'RecursiveType'];

/** Whether the keys of the decoded objects are values, rather than the names of fields. */
const isMap = ({ _tag, type }: Codec = {}): boolean =>
  _tag === 'DictionaryType' || (wrappers.includes(_tag) && isMap(type));

/**
 * A problem on one line.
 *
 * @category Values
 */
export const formatProblem = ({ path, expected }: Problem): string =>
  path === '' ? `expected ${expected}` : `${path}: expected ${expected}`;
