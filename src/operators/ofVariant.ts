import { filter, type Observable } from 'rxjs';
import type { Update } from '../codecs/Update.js';

/**
 * Emits only the updates of the given variants, and narrows their type.
 *
 * Order, errors and completion are those of the source. The source may also contain elements of type `InvalidUpdate`,
 * which cannot be decoded.
 *
 * @param variant - a variant, by its `_tag`
 * @param variants - further variants
 *
 * @example
 * ```ts
 * import { from } from 'rxjs';
 * import { ofVariant, type Update } from 'canton-rx';
 *
 * const updates: Update[] = [
 *   { _tag: 'OffsetCheckpoint', offset: 7, synchronizerTimes: [] },
 *   { _tag: 'UnknownUpdate', variant: 'Later', offset: 8, value: {} },
 * ];
 *
 * from(updates)
 *   .pipe(ofVariant('OffsetCheckpoint'))
 *   .subscribe(({ offset, synchronizerTimes }) => {
 *     console.log(offset, synchronizerTimes.length); // 7 0
 *   });
 * ```
 * @category Operators
 */
export function ofVariant<T extends Update['_tag'] | 'InvalidUpdate'>(
  variant: T,
  ...variants: readonly T[]
): <U extends { readonly _tag: string }>(source: Observable<U>) => Observable<Extract<U, { readonly _tag: T }>> {
  return byTag(variant, variants);
}

/** Emits only the members of a union whose `_tag` is one of the given tags. */
export const byTag = <T extends string>(
  tag: T,
  tags: readonly T[],
): (<U extends { readonly _tag: string }>(source: Observable<U>) => Observable<Extract<U, { readonly _tag: T }>>) => {
  const others: readonly string[] = tags;
  return <U extends { readonly _tag: string }>(source: Observable<U>): Observable<Extract<U, { readonly _tag: T }>> =>
    source.pipe(
      // for a single tag, the usual case, this costs no more than a hand-written filter
      filter((u): u is Extract<U, { readonly _tag: T }> => u._tag === tag || others.includes(u._tag)),
    );
};
