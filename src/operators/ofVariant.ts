import { filter, type Observable } from 'rxjs';
import type { Update } from '../codecs/Update.js';
import type { EventOf } from './toEvents.js';

/**
 * Emits only the updates of the given variants, and narrows their type.
 *
 * A variant that the source cannot have is a type error. Order, errors and completion are those of the source. The source
 * may also contain elements of type `UndecodedUpdate`,
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
export function ofVariant<T extends Update['_tag'] | 'UndecodedUpdate'>(
  variant: T,
  ...variants: readonly T[]
): TagFilter<T> {
  return byTag(variant, variants);
}

/** Emits only the members of a union with a tag `T`. That the source can have none of them is a type error. */
type TagFilter<T extends string> = <U extends Tagged>(
  source: Observable<WithTag<U, T>>,
) => Observable<Extract<U, { readonly _tag: T }>>;

interface Tagged {
  readonly _tag: string;
}

/** The source's own type, or what the compiler then reports. */
type WithTag<U extends Tagged, T extends string> = [T] extends [U['_tag']]
  ? U
  : `the source has no ${Exclude<T, U['_tag']>}`;

/** Emits only the members of a union whose `_tag` is one of the given tags. */
function byTag<T extends string>(tag: T, tags: readonly T[]): TagFilter<T>;
function byTag(tag: string, tags: readonly string[]): (source: Observable<Tagged>) => Observable<Tagged> {
  // for a single tag, the usual case, this costs no more than a hand-written filter
  return filter(({ _tag }) => _tag === tag || tags.includes(_tag));
}

/**
 * Emits only the events of the given kinds, and narrows their type.
 *
 * Its source must be a stream of events: apply `toEvents()` to updates first. A kind that the source cannot have is a
 * type error. Order, errors and completion are those of the source.
 *
 * @param kind - a kind of event, by its `_tag`
 * @param kinds - further kinds
 *
 * @example
 * ```ts
 * import { from } from 'rxjs';
 * import { ofEvent, type TopologyEvent } from 'canton-rx';
 *
 * const events: TopologyEvent[] = [
 *   { _tag: 'ParticipantAuthorizationRevoked', partyId: 'alice::1220ab', participantId: 'p1::1220ab' },
 *   { _tag: 'UnknownTopologyEvent', variant: 'Later', value: {} },
 * ];
 *
 * from(events)
 *   .pipe(ofEvent('ParticipantAuthorizationRevoked'))
 *   .subscribe(({ partyId }) => {
 *     console.log(partyId); // alice::1220ab
 *   });
 * ```
 * @category Operators
 */
export function ofEvent<T extends EventOf<Update>['_tag'] | 'UndecodedEvent'>(
  kind: T,
  ...kinds: readonly T[]
): TagFilter<T> {
  return byTag(kind, kinds);
}
