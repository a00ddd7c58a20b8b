import {
  AsyncSubject,
  BehaviorSubject,
  defer,
  distinct,
  filter,
  finalize,
  isObservable,
  merge,
  type Observable,
  scan,
  share,
  skip,
  startWith,
  Subject,
  switchMap,
  tap,
} from 'rxjs';
import { isInterfaceType } from '../codecs/ContractType.js';
import { checkNotNegative } from '../codecs/internal/numbers.js';
import { elapsed } from '../http/retry.js';
import type { LedgerReader } from '../ledger/Ledger.js';
import type { AnyContract, ContractOf, ContractTypes } from './Contract.js';
import { type ContractPolicies, type ContractQuery, type ContractsOptions, copyOf } from './ContractQuery.js';
import { type LiveContracts, toLiveContracts } from './liveContracts.js';
import { openView } from './openView.js';
import { inOrder } from './inOrder.js';
import { loading, type View } from './LiveState.js';

/**
 * Options of {@link shareContracts}.
 *
 * @category Contracts
 */
export interface ShareOptions {
  /**
   * How long a view is kept up to date after its last subscriber, in milliseconds. `Infinity` keeps it until `clear`, or
   * until two other views are kept.
   *
   * @defaultValue 30000
   */
  readonly keepMs?: number | undefined;
}

/**
 * Live views that are shared by query. Created by {@link shareContracts}.
 *
 * @category Contracts
 */
export interface SharedContracts {
  /**
   * Returns the shared view of a query. Cold, like `liveContracts`: nothing is requested before a subscription.
   *
   * @throws the errors of `liveContracts`, synchronously
   */
  view<M extends ContractTypes>(
    query: ContractQuery<M> & ContractPolicies,
    options?: ContractsOptions,
  ): SharedView<ContractOf<M>>;
  /**
   * Forgets all views, for example when a user logs out. Views without subscribers end immediately, and the others with
   * their last subscriber. Later subscriptions begin with new views.
   */
  readonly clear: () => void;
  /**
   * Emits after each `clear`.
   *
   * @internal
   */
  readonly clears$: Observable<void>;
  /**
   * Returns a text that is the same for equal queries and options.
   *
   * @internal
   */
  keyOf(query: ContractQuery, options?: ContractsOptions): string;
}

/**
 * A live view that all equal queries share.
 *
 * @category Contracts
 */
export interface SharedView<C extends AnyContract = AnyContract> extends LiveContracts<C> {
  /**
   * Reads all contracts again, for all subscribers. They keep the previous contracts, as stale ones, until then. Without
   * subscribers, it has an effect only on a view that is kept.
   */
  readonly reload: () => void;
  /**
   * Emits after each `reload`, also after the view has ended with an error.
   *
   * @internal
   */
  readonly reload$: Observable<unknown>;
  /**
   * Returns what is known now, without a subscription.
   *
   * @internal
   */
  current(): View<C>;
}

/**
 * Shares the live views of a ledger: equal queries have one snapshot and one feed, however often they are subscribed to.
 * A view that has lost its last subscriber is kept up to date for `keepMs`. A subscription in that time begins with the
 * current contracts. Two views are kept at most, those that were used last, because browsers limit the connections.
 *
 * Queries are equal if their parties, types, policies and options are, in any order. Types are equal if they have the
 * same name, template ID and decoder: create them once, not for each query. Their order counts if a contract could match
 * several of them. Functions and objects such as a transport are compared by identity.
 *
 * A view that has ended with an error is not kept: the next subscription begins a new one. In Node.js, a view that is
 * kept also keeps the process running; `clear` ends it.
 *
 * @throws TypeError if `keepMs` is negative
 * @example
 * ```ts
 * import { contractType, createLedger } from 'canton-rx';
 * import { shareContracts } from 'canton-rx/contracts';
 * import * as t from 'io-ts';
 *
 * const Iou = contractType('#finance:Main:Iou', t.type({ owner: t.string, amount: t.string }));
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575' });
 * const contracts = shareContracts(ledger);
 * const iousOf = (party: string) => contracts.view({ types: { iou: Iou }, parties: [party] });
 *
 * const table = iousOf('alice::1220ab').all$().subscribe();
 * const badge = iousOf('alice::1220ab').count$().subscribe(); // the same snapshot and feed
 * table.unsubscribe();
 * badge.unsubscribe(); // the view is kept for 30 seconds
 * contracts.clear(); // unless it is cleared
 * ```
 *
 * @category Contracts
 */
export const shareContracts = (ledger: LedgerReader, options?: ShareOptions): SharedContracts =>
  shareViews((query, viewOptions) => openView(ledger, query, viewOptions), options);

/**
 * How many views are kept. The feed of each has an open request, and browsers have six connections for an origin, which
 * views with subscribers need.
 */
const maxKept = 2;

type OpenView = (query: ContractQuery & ContractPolicies, options?: ContractsOptions) => Observable<View<AnyContract>>;

/** A view with subscribers, or one that is kept. */
interface Running {
  readonly view$: Observable<View<AnyContract>>;
  readonly current: () => View<AnyContract>;
  readonly reload: () => void;
}

/**
 * Shares views by query.
 *
 * @param open - returns a view that begins with each subscription; throws for an invalid query
 * @param openAgain - returns the view that takes its place after `reload`
 */
export function shareViews(open: OpenView, { keepMs = 30_000 }: ShareOptions = {}, openAgain = open): SharedContracts {
  checkNotNegative({ keepMs });
  let running = new Map<string, Running>();
  let cleared$ = new AsyncSubject<void>();
  const clears$ = new Subject<void>();
  const reloads$ = new Subject<string>();
  const kept$ = new Subject<string>();
  const keyOf = newKeys();
  const start = (key: string, source$: Observable<View<AnyContract>>, again$: typeof source$): Running => {
    const views = running;
    const outnumbered$ = kept$.pipe(
      filter((other) => other !== key),
      distinct(),
      skip(maxKept - 1),
    );
    const forgotten$ = merge(elapsed(keepMs), cleared$, outnumbered$);
    const reload$ = new Subject<void>();
    let current: View<AnyContract> = loading;
    const forget = (): void => {
      if (views.get(key) === started) views.delete(key);
    };
    const started: Running = {
      current: () => current,
      reload: () => {
        reload$.next();
      },
      view$: reload$.pipe(
        startWith(undefined),
        switchMap((_, index) => (index === 0 ? source$ : again$).pipe(startWith<View<AnyContract>>(loading))),
        scan(keepKnown),
        inOrder(),
        tap({
          next: (view) => {
            current = view;
          },
          // before subscribers get it, because they may subscribe again
          error: forget,
        }),
        finalize(forget),
        share({
          connector: () => new BehaviorSubject<View<AnyContract>>(loading),
          resetOnRefCountZero: () => {
            kept$.next(key);
            // also a view whose only subscriber left before it began
            return forgotten$.pipe(tap(forget));
          },
        }),
      ),
    };
    views.set(key, started);
    return started;
  };
  return {
    keyOf,
    view: <M extends ContractTypes>(query: ContractQuery<M> & ContractPolicies, options?: ContractsOptions) => {
      const key = keyOf(query, options);
      const source$ = open(query, options);
      const again$ = openAgain === open ? source$ : openAgain(query, options);
      const { parties } = copyOf(query);
      const view$ = defer(() => (running.get(key) ?? start(key, source$, again$)).view$);
      return {
        // the contracts have the types of the query
        ...toLiveContracts(view$ as Observable<View<ContractOf<M>>>, isObservable(parties) ? undefined : parties),
        current: () => (running.get(key)?.current() ?? loading) as View<ContractOf<M>>,
        reload: () => {
          running.get(key)?.reload();
          reloads$.next(key);
        },
        reload$: reloads$.pipe(filter((reloaded) => reloaded === key)),
      };
    },
    clear: () => {
      const before$ = cleared$;
      running = new Map();
      cleared$ = new AsyncSubject();
      before$.next();
      before$.complete();
      clears$.next();
    },
    clears$: clears$.asObservable(),
  };
}

/** While contracts are read again, the previous ones are known. */
const keepKnown = (before: View<AnyContract>, now: View<AnyContract>): View<AnyContract> =>
  now.known === undefined && before.known !== undefined ? { ...now, known: before.known, isReloading: true } : now;

/** Returns a function that returns the same text for equal queries and options. */
export function newKeys(): (query: ContractQuery, options?: ContractsOptions) => string {
  const identities = new WeakMap<object, number>();
  let count = 0;
  const identityOf = (object: object): number => {
    const identity = identities.get(object) ?? (count += 1);
    identities.set(object, identity);
    return identity;
  };
  const textOf = (value: unknown): string => {
    if (typeof value === 'function') return `#${identityOf(value)}`;
    if (typeof value === 'string') return JSON.stringify(value);
    if (typeof value !== 'object' || value === null) return String(value);
    if (Array.isArray(value)) return `[${value.map(textOf).join()}]`;
    if (isObservable(value)) return `#${identityOf(value)}`;
    const parts = Object.entries(value).filter(([, part]) => part !== undefined);
    return `{${parts
      .map(([name, part]) => `${JSON.stringify(name)}:${textOf(part)}`)
      .sort()
      .join()}}`;
  };
  const textsOf = (types: ContractTypes): readonly string[] => {
    const texts = Object.entries(types).map(([name, type]) =>
      JSON.stringify([name, type.templateId, isInterfaceType(type), identityOf(type.decoder)]),
    );
    return isOrderRelevant(Object.values(types)) ? texts : texts.sort();
  };
  return ({ types, parties, ...policies }, options = {}) =>
    textOf([
      types && textsOf(types),
      Array.isArray(parties) ? [...new Set(parties)].sort() : parties,
      policies,
      options,
    ]);
}

/** Whether a contract could match several types: interfaces, and templates of the same name in several packages. */
function isOrderRelevant(types: readonly ContractTypes[string][]): boolean {
  const names = new Set(types.map(({ templateId }) => templateId.slice(templateId.indexOf(':'))));
  return types.length > 1 && (names.size < types.length || types.some(isInterfaceType));
}
