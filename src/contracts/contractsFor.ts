import {
  BehaviorSubject,
  defer,
  distinctUntilChanged,
  filter,
  ignoreElements,
  isObservable,
  map,
  merge,
  type Observable,
  of,
  ReplaySubject,
  share,
  switchMap,
  take,
  tap,
} from 'rxjs';
import { checkOffset } from '../codecs/internal/numbers.js';
import type { AnyContract } from './Contract.js';
import { type LiveContracts, toLiveContracts } from './liveContracts.js';
import { firstWith } from './firstWith.js';
import { inOrder } from './inOrder.js';
import { isKnown, knownStateOf, loading, type View } from './LiveState.js';
import { PartyIndex } from './parties/PartyIndex.js';

/**
 * Returns a live view of what some parties see of another live view, such as the contracts of one user out of those of all
 * users of a service. It sends no request: it reads the other view, which all such views share.
 *
 * It has what `liveContracts` has for these parties: the contracts of which they are stakeholders, and with
 * `includeExercises` the events that they witness. Nothing else of the other view is in it. As from a participant,
 * `witnessParties` has no other party; `submitter` of a reassignment is empty unless it is one of them. `commandId` and
 * `paidTrafficCost` of updates are left out, because a view does not know who submitted them.
 *
 * When the parties change, the contracts change at once and in one step: a `ContractsChanged` with the reason
 * `selectionChanged`. It has `added` for what the new parties see, `removed` for what only the former ones saw, and `moved`
 * for contracts whose `witnessParties` are different now.
 *
 * A change costs nothing for the views that it does not concern. Their `offset` moves with their own changes and with the
 * checkpoints of the participant, while `atOffset` emits as soon as everything up to that offset has been applied.
 *
 * @param live - a view that reads all contracts of the parties, for example with `parties: 'any'`
 * @param parties - the parties. With an Observable, the view is loading until its first list, and its errors end the view.
 * An empty list sees nothing
 * @throws TypeError if `parties` is neither a list of parties nor an Observable, or if `live` does not read a party;
 * synchronously for a list. Lists that an Observable emits end the view with it
 * @example
 * ```ts
 * import { createLedger } from 'canton-rx';
 * import { contractsFor, liveContracts } from 'canton-rx/contracts';
 *
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575' });
 * const all = liveContracts(ledger, { parties: ['alice::1220ab', 'bob::1220cd'] });
 * const forAlice = contractsFor(all, ['alice::1220ab']).all$().subscribe((contracts) => {
 *   console.log(contracts.length);
 * });
 * forAlice.unsubscribe();
 * ```
 *
 * @category Contracts
 */
export function contractsFor<C extends AnyContract>(
  live: LiveContracts<C>,
  parties: readonly string[] | Observable<readonly string[]>,
): LiveContracts<C> {
  const parties$ = isObservable(parties)
    ? parties.pipe(map((list) => checked(list, live.parties)))
    : of(checked(parties, live.parties));
  const selection$ = parties$.pipe(distinctUntilChanged(isSameSet));
  const index$ = indexOf(live);
  const view$ = index$.pipe(
    switchMap((index) => index.viewOf(selection$)),
    inOrder(),
    share({ connector: () => new BehaviorSubject<View<C>>(loading) }),
  );
  const applied$ = index$.pipe(switchMap((index) => index.applied$));
  const known$ = view$.pipe(filter(isKnown));
  return {
    ...toLiveContracts(view$, isObservable(parties) ? undefined : [...parties]),
    atOffset: (offset) => {
      checkOffset(offset);
      return known$.pipe(
        take(1),
        switchMap(() => applied$.pipe(filter(isKnown))),
        map(({ known }) => known.offset),
        filter((reached) => reached >= offset),
        take(1),
      );
    },
    after: (transaction) =>
      firstWith(applied$, transaction).pipe(
        // a change that does not concern the view does not move its offset
        switchMap(({ offset }) =>
          known$.pipe(map((view) => ({ ...knownStateOf(view), offset: Math.max(offset, view.known.offset) }))),
        ),
        take(1),
      ),
  };
}

/** The index of each view that has one. It is built when it is first read, and dropped with its last reader. */
const indexes = new WeakMap<Observable<View<AnyContract>>, unknown>();

function indexOf<C extends AnyContract>({ view$ }: LiveContracts<C>): Observable<PartyIndex<C>> {
  // the index of a view has its contracts
  const known = indexes.get(view$) as Observable<PartyIndex<C>> | undefined;
  if (known !== undefined) return known;
  const index$ = defer(() => {
    const index = new PartyIndex<C>();
    const applied$ = view$.pipe(
      tap((view) => {
        index.apply(view);
      }),
      ignoreElements(),
    );
    // its readers are there before its contracts
    return merge(of(index), applied$);
  }).pipe(share({ connector: () => new ReplaySubject(1) }));
  indexes.set(view$, index$);
  return index$;
}

/** Returns the parties. Throws a TypeError for anything else, or if a view does not read their contracts. */
function checked(parties: readonly string[], read: LiveContracts['parties'] = 'any'): ReadonlySet<string> {
  // JavaScript callers may pass a single party
  const isList = Array.isArray(parties) && parties.every((party) => typeof party === 'string');
  if (!isList) throw new TypeError('parties must be a list of parties, or an Observable of lists');
  const other = read === 'any' ? undefined : parties.find((party) => !read.includes(party));
  if (other !== undefined)
    throw new TypeError(`The view does not read the contracts of ${other}: add it to its parties.`);
  return new Set(parties);
}

const isSameSet = (one: ReadonlySet<string>, other: ReadonlySet<string>): boolean =>
  one.size === other.size && [...one].every((party) => other.has(party));
