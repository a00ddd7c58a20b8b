import { filter, type MonoTypeOperatorFunction } from 'rxjs';

/** Passes the members of a tagged union that carry one of the tags. */
export const byTag = (tags: readonly string[]): MonoTypeOperatorFunction<{ readonly _tag: string }> =>
  filter(({ _tag }) => tags.includes(_tag));
