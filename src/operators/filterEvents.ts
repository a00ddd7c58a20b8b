import { concatMap, defer, map, type Observable, toArray } from 'rxjs';
import type { Update } from '../codecs/Update.js';
import type { EventOf } from './toEvents.js';

/**
 * An update of type `U` whose `events` are those of type `E` that its variant can have. An update without `events` is
 * unchanged.
 *
 * @category Operators
 */
export type FilteredUpdate<U, E> = U extends { readonly events: readonly (infer A extends Tagged)[] }
  ? Omit<U, 'events'> & {
      /** The events that the operator emitted. */
      readonly events: readonly Possible<E, A['_tag']>[];
    }
  : U;

/**
 * Filters the events inside each update, and emits every update with the events that are left, even if none are.
 * Because no update is dropped, you can store the offset of each update that you have handled and resume from it.
 *
 * The argument is an operator on events, such as `ofEvent`, `ofTemplate` or the `filter` of RxJS; `pipe` combines
 * several. It is applied to the events of one update at a time, and must complete. It may decode events, as
 * `ofTemplate` does with types. Checkpoints, updates of an unknown variant and `UndecodedUpdate` pass unchanged. Order
 * and completion are those of the source. If the operator fails, with a `DecodeError` for example, the stream fails
 * before that update.
 *
 * @param operator - an operator that passes events, or decodes them
 *
 * @example
 * ```ts
 * import { acsDelta, createLedger, filterEvents, ofTemplate } from 'canton-rx';
 *
 * createLedger({ baseUrl: 'http://127.0.0.1:7575' })
 *   .updates({ beginExclusive: 0, endInclusive: 20, updateFormat: acsDelta({ parties: 'any' }) })
 *   .pipe(filterEvents(ofTemplate('#sandbox-assets:Main:Asset')))
 *   .subscribe((update) => {
 *     if (update._tag === 'Transaction') console.log(update.events.length); // may be 0
 *     console.log(`resume after ${update.offset}`);
 *   });
 * ```
 *
 * @category Operators
 */
export function filterEvents<E>(
  operator: (events$: Observable<EventOf<Update>>) => Observable<E>,
): <U extends { readonly _tag: Update['_tag'] | 'UndecodedUpdate' }>(
  source: Observable<U>,
) => Observable<FilteredUpdate<U, E>>;
export function filterEvents(
  operator: (events$: Observable<EventOf<Update>>) => Observable<unknown>,
): (source: Observable<Update>) => Observable<unknown> {
  return concatMap((update) =>
    'events' in update
      ? operator(defer(() => update.events)).pipe(
          toArray(),
          map((events) => ({ ...update, events })),
        )
      : [update],
  );
}

/** The types of `E` without those whose tag is certainly of another variant. A type may have several tags. */
type Possible<E, Tags> = E extends Tagged ? ([E['_tag'] & Tags] extends [never] ? never : E) : E;

/** The tag that identifies an event. */
interface Tagged {
  readonly _tag: EventOf<Update>['_tag'];
}
