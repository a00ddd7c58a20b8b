import { filter, type Observable } from 'rxjs';

/** Passes the members of a tagged union that carry one of the tags. */
export const byTag =
  <T extends string>(tags: readonly T[]) =>
  <U extends { readonly _tag: string }>(source: Observable<U>): Observable<Extract<U, { readonly _tag: T }>> =>
    source.pipe(filter((u): u is Extract<U, { readonly _tag: T }> => isOneOf(tags, u._tag)));

const isOneOf = (tags: readonly string[], tag: string): boolean => tags.includes(tag);
