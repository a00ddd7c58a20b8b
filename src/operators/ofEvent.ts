import type { Observable } from 'rxjs';
import type { Update } from '../codecs/Update.js';
import { byTag } from './ofVariant.js';
import type { EventOf } from './toEvents.js';

/**
 * Emits only the events of the given kinds, and narrows their type.
 *
 * Its source must be a stream of events: apply `toEvents()` to updates first. A stream of updates is a type error.
 * Order, errors and completion are those of the source.
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
export function ofEvent<T extends EventOf<Update>['_tag']>(
  kind: T,
  ...kinds: readonly T[]
): <A extends { readonly _tag: EventOf<Update>['_tag'] }>(
  source: Observable<A>,
) => Observable<Extract<A, { readonly _tag: T }>> {
  return byTag(kind, kinds);
}
