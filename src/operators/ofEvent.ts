import type { Update } from '../codecs/Update.js';
import { byTag, type TagFilter } from './ofVariant.js';
import type { EventOf } from './toEvents.js';

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
