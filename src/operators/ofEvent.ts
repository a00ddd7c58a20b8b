import type { Observable } from 'rxjs';
import type { Update } from '../codecs/Update.js';
import { byTag } from './ofVariant.js';
import type { EventOf } from './toEvents.js';

/**
 * Passes the events of the given kinds, and narrows the type to them.
 *
 * It operates on events: apply `toEvents()` first to a stream of updates, which is a type error here. Order, errors and
 * completion are those of the source.
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
