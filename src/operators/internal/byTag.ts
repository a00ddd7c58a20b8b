import { filter, type Observable } from 'rxjs';

/** Passes the members of a tagged union that carry one of the tags. */
export const byTag = <T extends string>(
  tag: T,
  tags: readonly T[],
): (<U extends { readonly _tag: string }>(source: Observable<U>) => Observable<Extract<U, { readonly _tag: T }>>) => {
  const others: readonly string[] = tags;
  return <U extends { readonly _tag: string }>(source: Observable<U>): Observable<Extract<U, { readonly _tag: T }>> =>
    source.pipe(
      // mostly there is but one, and that costs no more than by hand
      filter((u): u is Extract<U, { readonly _tag: T }> => u._tag === tag || others.includes(u._tag)),
    );
};
