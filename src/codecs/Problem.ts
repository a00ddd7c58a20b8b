import type * as t from 'io-ts';

/** One reason why a value cannot be decoded. It never contains the value, which may be secret. */
export interface Problem {
  /** Keys from the outside in, joined by dots; empty for the value itself. */
  readonly path: string;
  /** The expected value. */
  readonly expected: string;
}

/** The errors of io-ts as problems, without the values. */
export const problemsOf = (errors: t.Errors): readonly Problem[] =>
  errors.map(({ context, message }) => ({
    path: context
      .map(({ key }) => key)
      .filter((key) => key !== '')
      .join('.'),
    expected: message ?? context.at(-1)?.type.name ?? '',
  }));

/** A problem on one line. */
export const formatProblem = ({ path, expected }: Problem): string =>
  path === '' ? `expected ${expected}` : `${path}: expected ${expected}`;
