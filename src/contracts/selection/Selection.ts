import {
  concatMap,
  connect,
  defer,
  distinctUntilChanged,
  ignoreElements,
  isObservable,
  map,
  merge,
  NEVER,
  type Observable,
  ReplaySubject,
  switchMap,
  take,
  tap,
  timer,
} from 'rxjs';
import { monotonicNow } from '../../http/clock.js';
import { type ContractQuery, eventFormatOf, type SelectedQuery } from '../ContractQuery.js';

/** The parties whose contracts are read. */
export type Parties = SelectedQuery['parties'];

/** The parties that a query selects. They may change while its contracts are followed. */
export interface Selection {
  /** The last list. */
  readonly latest: () => Parties;
  /**
   * Emits again and again while the last list differs from the parties of the contracts: not at once, so that changes in
   * quick succession are taken together, and the feed continues in between.
   */
  readonly differsFrom: (parties: Parties) => Observable<unknown>;
}

/** How long to wait for more changes of the parties, in milliseconds. */
const gatherMs = 100;

/** The minimum time between two changes of the contracts because of their parties, in milliseconds. */
const minPauseMs = 1_000;

/** Reads something with the parties of a query, which are those of its last list. Waits for the first one. */
export function withSelection<A>(query: ContractQuery, read: (selection: Selection) => Observable<A>): Observable<A> {
  const { parties } = query;
  if (!isObservable(parties)) return read({ latest: () => parties, differsFrom: () => NEVER });
  return defer(() => {
    let latest: readonly string[] = [];
    return parties.pipe(
      map((list) => checkedList(query, list)),
      tap((list) => {
        latest = list;
      }),
      connect(
        (lists$) => {
          let lastAt = -Infinity;
          const differsFrom: Selection['differsFrom'] = (before) =>
            lists$.pipe(
              map((list) => !isSameSelection(list, before)),
              distinctUntilChanged(),
              switchMap((differs) =>
                differs ? timer(Math.max(gatherMs, lastAt + minPauseMs - monotonicNow()), minPauseMs) : NEVER,
              ),
              tap(() => {
                lastAt = monotonicNow();
              }),
            );
          const first$ = lists$.pipe(take(1));
          // an error of the lists ends the contracts at once
          return merge(
            lists$.pipe(ignoreElements()),
            first$.pipe(concatMap(() => read({ latest: () => latest, differsFrom }))),
          );
        },
        { connector: () => new ReplaySubject(1) },
      ),
    );
  });
}

/** Whether two selections have the same parties, in any order. */
export function isSameSelection(one: Parties, other: Parties): boolean {
  if (one === 'any' || other === 'any') return one === other;
  const parties: ReadonlySet<string> = new Set(one);
  return parties.size === new Set(other).size && other.every((party) => parties.has(party));
}

/** Whether a selection has no parties, so that it sees nothing. The participant does not answer such a request. */
export const isNobody = (parties: Parties): boolean => parties !== 'any' && parties.length === 0;

/** Returns a list without duplicates. Throws a TypeError if it is none, and an `InvalidRequestError` for an invalid party. */
function checkedList(query: ContractQuery, list: readonly string[]): readonly string[] {
  // JavaScript callers may pass a single party
  const isList: boolean = Array.isArray(list);
  if (!isList) throw new TypeError('parties must emit lists of parties');
  if (list.length > 0) eventFormatOf({ ...query, parties: list });
  return [...new Set(list)];
}
