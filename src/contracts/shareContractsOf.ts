import {
  BehaviorSubject,
  catchError,
  concat,
  concatMap,
  defer,
  distinctUntilChanged,
  finalize,
  isObservable,
  map,
  type Observable,
  share,
  throwError,
} from 'rxjs';
import { type ContractType, isInterfaceType } from '../codecs/ContractType.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { isTransient } from '../errors/verdict.js';
import { reportEnd } from '../feed/updates.js';
import { clientOf } from '../ledger/clientOf.js';
import type { LedgerReader } from '../ledger/Ledger.js';
import type { AnyContract, ContractTypes } from './Contract.js';
import {
  checkQuery,
  type ContractPolicies,
  type ContractQuery,
  type ContractsOptions,
  copyOf,
} from './ContractQuery.js';
import { inOrder } from './inOrder.js';
import { type ContractsHad, openView } from './openView.js';
import { loading, type View } from './LiveState.js';
import { maker } from './readContracts.js';
import { newKeys, type SharedContracts, type ShareOptions, shareViews } from './shareContracts.js';
import { TypesFilter } from './types/TypesFilter.js';
import { TypesReader, type TypesView } from './types/TypesReader.js';

type Query = ContractQuery & ContractPolicies;

type ReadAlone = (query: Query, options?: ContractsOptions, after?: ContractsHad) => Observable<View<AnyContract>>;

/**
 * Shares the live views of a ledger as `shareContracts` does, and reads the given types together: all views whose types are
 * among them, and whose parties, policies and options are equal, have one snapshot and one feed. So a page with many views needs
 * one connection, and decodes each update once.
 *
 * Each view has what it has alone: its own types with their decoders, and the changes of their contracts alone. The first view
 * reads the contracts of all the types, also of those without a view; later views begin with what is known, and send no
 * request. While the feed has more to apply, all of them are `'stale'`.
 *
 * If the participant rejects the request for all types, or sends an update that cannot be decoded, each view continues alone
 * after what it has, so that only a view that cannot be read ends. Views with other types, without types, or with
 * `onUnknownPackage: 'wait'` are read alone from the start, and so is a view after `reload`.
 *
 * @param types - the types, also with other decoders than in the queries; their order means nothing
 * @throws TypeError if there are no types, if one has an invalid template ID or two interfaces are ambiguous, or if `keepMs` is
 * negative
 * @example
 * ```ts
 * import { contractType, createLedger } from 'canton-rx';
 * import { shareContractsOf } from 'canton-rx/contracts';
 * import * as t from 'io-ts';
 *
 * const Iou = contractType('#finance:Main:Iou', t.type({ owner: t.string, amount: t.string }));
 * const Offer = contractType('#market:Main:Offer', t.type({ buyer: t.string }));
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575' });
 * const contracts = shareContractsOf(ledger, [Iou, Offer]);
 * const parties = ['alice::1220ab'];
 *
 * const ious = contracts.view({ types: { iou: Iou }, parties }).all$().subscribe();
 * const offers = contracts.view({ types: { offer: Offer }, parties }).count$().subscribe(); // the same snapshot and feed
 * for (const each of [ious, offers]) each.unsubscribe();
 * contracts.clear();
 * ```
 *
 * @category Contracts
 */
export function shareContractsOf(
  ledger: LedgerReader,
  types: readonly ContractType[],
  options?: ShareOptions,
): SharedContracts {
  if (types.length === 0) throw new TypeError('types is empty');
  const together = togetherOf(types);
  checkQuery({ types: together, parties: 'any' });
  const keyOf = newKeys();
  let running = new Map<string, Observable<View<AnyContract>>>();
  /** Returns the view of all types that a query is read out of. */
  const open = (query: Query, viewOptions: ContractsOptions = {}): Observable<View<AnyContract>> => {
    const all: Query = { ...copyOf(query), types: together, onUndecodable: 'emit' };
    const key = keyOf(all, viewOptions);
    return defer(() => {
      const views = running;
      const known$ = views.get(key);
      if (known$ !== undefined) return known$;
      const view$ = openView(ledger, all, viewOptions, { unreported: ['ContractUndecoded'] }).pipe(
        inOrder(),
        finalize(() => {
          if (views.get(key) === view$) views.delete(key);
        }),
        share({ connector: () => new BehaviorSubject<View<AnyContract>>(loading) }),
      );
      views.set(key, view$);
      return view$;
    });
  };
  const alone: ReadAlone = (query, viewOptions, after) => openView(ledger, query, viewOptions, { after });
  const shared = shareViews(
    (query, viewOptions) => {
      // throws for an invalid query
      const alone$ = alone(query, viewOptions);
      if (!isAmong(together, query)) return alone$;
      const own = copyOf(query);
      return readOf(ledger, own, open(own, viewOptions), (after) => alone(own, viewOptions, after));
    },
    options,
    alone,
  );
  return {
    ...shared,
    clear: () => {
      // what one user has read must not reach the next one
      running = new Map();
      shared.clear();
    },
  };
}

/** Types that decode nothing, by their IDs. */
const togetherOf = (types: readonly ContractType[]): ContractTypes =>
  Object.fromEntries(types.map((type) => [idOf(type), { ...type, decoder: asItIs }]));

const asItIs: ContractType['decoder'] = { run: (result) => ({ ok: true, result }) };

/** An interface may have the ID of a template of another package version. */
const idOf = (type: ContractType): string => `${isInterfaceType(type) ? 'interface ' : ''}${type.templateId}`;

/** Whether what a query selects can be read with other types. While some types are unknown, those that wait would hold up the others. */
const isAmong = (all: ContractTypes, { types = {}, onUnknownPackage }: Query): boolean => {
  const selected = Object.values(types);
  return onUnknownPackage !== 'wait' && selected.length > 0 && selected.every((type) => idOf(type) in all);
};

/** The view of a query out of a view of more types; alone after an error that may be of the other types. */
const readOf = (
  ledger: LedgerReader,
  query: Query,
  all$: Observable<View<AnyContract>>,
  alone: (after: ContractsHad | undefined) => Observable<View<AnyContract>>,
): Observable<View<AnyContract>> =>
  defer(() => {
    const report = clientOf(ledger).reportForNewFeed();
    const reader = new TypesReader(new TypesFilter(Object.values(query.types ?? {})), maker({ report }, query));
    return all$.pipe(
      map((all) => reader.viewIn(all)),
      catchError((error: unknown) => {
        const { isEmpty } = reader;
        // other parties may be selected by now
        const had = isObservable(query.parties) ? undefined : reader.had;
        // what cannot be found again would be lost
        if (!isOfSelection(error) || (had === undefined && !isEmpty)) throw error;
        return alone(had).pipe(map((view): TypesView => ({ view: had ? continued(view) : view })));
      }),
      concatMap(({ view, failure }) => {
        if (failure === undefined) return [view];
        return concat([view], throwError(() => failure.error).pipe(reportEnd<never>(report)));
      }),
      distinctUntilChanged(isSameView),
    );
  });

/** The step with the contracts that are read again selects no other parties than before. */
const continued = (view: View<AnyContract>): View<AnyContract> =>
  view.known?.items.length === 0 ? { ...view, known: { ...view.known, parties: undefined } } : view;

const isSameView = (one: View<AnyContract>, other: View<AnyContract>): boolean =>
  one.known === other.known && one.connection === other.connection && one.isLive === other.isLive;

/** Whether an error may concern only some of the types: alone, the others can be read. */
const isOfSelection = (error: unknown): boolean => {
  if (!isLedgerError(error, 'ApiError', 'DecodeError', 'SnapshotLimitError', 'PageLimitError')) return false;
  const isRefused = error._tag === 'ApiError' && [401, 403].includes(error.status);
  return !isRefused && !isTransient(error);
};
