import type * as t from 'io-ts';

/**
 * A reason why a value cannot be decoded. It never contains the value, which may be secret. The decoders of Daml's code
 * generator do not distinguish map keys from field names, so their paths contain map keys.
 *
 * @category Values
 */
export interface Problem {
  /**
   * Keys from the outside in, joined by dots; empty for the value itself. A map key (`t.record` in io-ts) appears as
   * `*`.
   */
  readonly path: string;
  /** A description of the expected value. */
  readonly expected: string;
}

/** Converts io-ts errors to problems, without the values. */
export const problemsOf = (errors: t.Errors): readonly Problem[] =>
  errors.map(({ context, message }) => ({
    path: context
      .map(({ key }, i) => (isMap(context[i - 1]?.type as Codec | undefined) ? '*' : key))
      .filter((key) => key !== '')
      .join('.'),
    expected: message ?? context.at(-1)?.type.name ?? '',
  }));

/** The part of an io-ts codec that this file reads. Programs without codecs need not load io-ts. */
interface Codec {
  readonly _tag?: string;
  /** The wrapped codec. */
  readonly type?: Codec;
}

/** Codecs that add no key to a path. */
const wrappers: readonly (string | undefined)[] = ['RefinementType', 'ReadonlyType', 'ExactType', 'RecursiveType'];

/** Whether the keys of the decoded objects are values, rather than the names of fields. */
const isMap = ({ _tag, type }: Codec = {}): boolean =>
  _tag === 'DictionaryType' || (wrappers.includes(_tag) && isMap(type));

/** Formats a problem as one line. */
export const formatProblem = ({ path, expected }: Problem): string =>
  path === '' ? `expected ${expected}` : `${path}: expected ${expected}`;
