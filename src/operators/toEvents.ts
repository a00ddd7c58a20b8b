import { concatMap, type OperatorFunction } from 'rxjs';
import type { ArchivedEvent } from '../codecs/Event.js';
import type { Update } from '../codecs/Update.js';

/**
 * The events of updates of type `U`. For `Update`, every kind of event. For the updates of {@link ledgerEffects}, every
 * kind but archivals.
 *
 * @category Operators
 */
export type EventOf<U extends Update> = U extends { readonly events: readonly (infer E)[] }
  ? Exclude<E, 'archivals' extends keyof U ? ArchivedEvent : never>
  : never;

/**
 * Emits the events of transactions, reassignments and topology transactions one by one.
 *
 * It emits the events of an update synchronously and in order. Checkpoints and updates of an unknown variant have no
 * events. The created event of an assignment stays in its assignment. Errors and completion are those of the source.
 *
 * A feed cannot resume from an event. Resume after the offset of an update when you have handled all its events.
 * `filterEvents` filters the events and keeps the update with its offset.
 *
 * @example
 * ```ts
 * import { of } from 'rxjs';
 * import { toEvents, type Update } from 'canton-rx';
 *
 * const update: Update = {
 *   _tag: 'TopologyTransaction',
 *   updateId: '1220ab',
 *   offset: 7,
 *   synchronizerId: 'global::1220ab',
 *   recordTime: '2026-07-24T10:00:00.123456Z',
 *   events: [
 *     { _tag: 'ParticipantAuthorizationRevoked', partyId: 'alice::1220ab', participantId: 'p1::1220ab' },
 *     { _tag: 'ParticipantAuthorizationRevoked', partyId: 'bob::1220ab', participantId: 'p1::1220ab' },
 *   ],
 * };
 *
 * of(update)
 *   .pipe(toEvents())
 *   .subscribe((event) => {
 *     console.log(event._tag); // ParticipantAuthorizationRevoked, twice
 *   });
 * ```
 * @category Operators
 */
export function toEvents<U extends Update = Update>(): OperatorFunction<U, EventOf<U>>;
export function toEvents(): OperatorFunction<Update, EventOf<Update>> {
  return concatMap((update): readonly EventOf<Update>[] => ('events' in update ? update.events : []));
}
