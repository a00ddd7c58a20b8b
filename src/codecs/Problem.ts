import type * as t from 'io-ts';

/**
 * A reason why a value cannot be decoded. It never contains the value, which may be secret. The decoders of Daml's code
 * generator do not distinguish map keys from field names, so their paths contain map keys. A path and a description have at
 * most 300 characters.
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

/** The maximum number of problems of a value. A counterparty chooses how many there are. */
export const maxProblems = 100;

/** The maximum length of a text of a problem. */
const maxLength = 300;

/** Limits a text of a problem. Keys, and the names of large codecs, have any length. */
const shorten = (text: string): string => (text.length > maxLength ? `${text.slice(0, maxLength)}…` : text);

/** Creates a problem at a path. */
export const problemAt = (path: readonly string[], expected: string): Problem => ({
  path: shorten(path.filter((key) => key !== '').join('.')),
  expected: shorten(expected),
});

/** Converts io-ts errors to problems, without the values. Only the first ones. */
export const problemsOf = (errors: t.Errors): readonly Problem[] =>
  errors.slice(0, maxProblems).map((error) => problemOf(error));

/** Converts an io-ts error to a problem. `expected` replaces the error's own message. */
export const problemOf = (
  { context, message }: t.ValidationError,
  expected = message ?? context.at(-1)?.type.name ?? '',
): Problem =>
  problemAt(
    context.map((_, i) => shownKey(context, i)),
    expected,
  );

/** The key at a position of the context. That of a map is a value. */
const shownKey = (context: t.Context, i: number): string =>
  isKind(mapKinds, context[i - 1]?.type as Codec | undefined) ? '*' : (context[i]?.key ?? '');

/** A place in a value. */
export interface Place {
  /** Keys from the outside in. */
  readonly keys: readonly string[];
  /** The same without values, for a problem. */
  readonly path: readonly string[];
}

/** Returns the place of an io-ts error. Its context also has the indices of the members of unions. */
export function placeOf({ context }: t.ValidationError): Place {
  const indices = context.flatMap((_, i) =>
    i === 0 || isKind(memberKinds, context[i - 1]?.type as Codec | undefined) ? [] : [i],
  );
  return { keys: indices.map((i) => context[i]?.key ?? ''), path: indices.map((i) => shownKey(context, i)) };
}

/** The part of an io-ts codec that this file reads. Programs without codecs need not load io-ts. */
interface Codec {
  readonly _tag?: string;
  /** The wrapped codec. */
  readonly type?: Codec;
}

type Kinds = readonly (string | undefined)[];

/** Codecs of objects whose keys are values, rather than the names of fields. */
const mapKinds: Kinds = ['DictionaryType'];

/** Codecs whose context has the index of a member. */
const memberKinds: Kinds = ['UnionType', 'IntersectionType'];

/** Codecs that add no key to a path. */
const wrappers: Kinds = ['RefinementType', 'ReadonlyType', 'ExactType', 'RecursiveType'];

/** Whether a codec is, or wraps, one of the kinds. */
const isKind = (kinds: Kinds, { _tag, type }: Codec = {}): boolean =>
  kinds.includes(_tag) || (wrappers.includes(_tag) && isKind(kinds, type));

/** Formats a problem as one line. */
export const formatProblem = ({ path, expected }: Problem): string =>
  path === '' ? `expected ${expected}` : `${path}: expected ${expected}`;
