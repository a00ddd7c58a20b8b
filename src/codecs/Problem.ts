import type * as t from 'io-ts';

/** One reason why a value does not decode: where, and what was expected there. Never what was found: it may be secret. */
export interface Problem {
  /** Keys from the outside in, joined by dots; empty for the value itself. */
  readonly path: string;
  /** What should stand there. */
  readonly expected: string;
}

/** The reasons that io-ts gives, without the values. */
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
