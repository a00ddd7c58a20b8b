import { computed, type Signal, untracked } from '@angular/core';
import type { Offset } from '../codecs/scalars.js';
import type { AnyContract, ContractTypes } from '../contracts/Contract.js';
import type { ContractsBatch } from '../contracts/ContractChange.js';
import type { ContractPolicies, ContractQuery } from '../contracts/ContractQuery.js';
import { type ContractsReset, errorOf, type LiveConnection } from '../contracts/LiveState.js';
import type { AwaitedView } from '../contracts/SingleSubmission.js';
import type { LedgerReader } from '../ledger/Ledger.js';

/**
 * The status of a {@link ContractsResource}, as in Angular's resources.
 *
 * @category Angular
 */
export type ContractsStatus = 'idle' | 'loading' | 'reloading' | 'resolved' | 'error';

/**
 * The status and the contracts as one value, as a snapshot of Angular's resources.
 *
 * @category Angular
 */
export type ContractsSnapshot<C extends AnyContract = AnyContract> =
  | {
      /** The discriminant. */
      readonly status: Exclude<ContractsStatus, 'error'>;
      /** The contracts, an empty array until they are known. */
      readonly value: readonly C[];
    }
  | {
      /** The discriminant. */
      readonly status: 'error';
      /** The error that ended the view. */
      readonly error: Error;
    };

/**
 * The contracts of a query as signals. Created by `injectContracts`. All signals change together, at most once per
 * frame. None of them throws when it is read. Assignable to Angular's `Resource` from Angular 20 on.
 *
 * @category Angular
 */
export interface ContractsResource<C extends AnyContract = AnyContract> {
  /**
   * The contracts if `hasValue()`; otherwise an empty array. It is a new array whenever a contract has changed;
   * unchanged contracts are the same objects in it.
   */
  readonly value: Signal<readonly C[]>;
  /**
   * The status. `'idle'`: there is no query. `'loading'`: the contracts are not known yet. `'resolved'`: they are known
   * and kept up to date. `'reloading'`: they are being read again after a call of `reload`, and the previous ones are
   * shown. `'error'`: the view has ended, see `error`.
   */
  readonly status: Signal<ContractsStatus>;
  /** Whether the status is `'loading'` or `'reloading'`. */
  readonly isLoading: Signal<boolean>;
  /** The status and the contracts, or the error, as one value. */
  readonly snapshot: Signal<ContractsSnapshot<C>>;
  /**
   * The error that ended the view, usually a `LedgerError`; `undefined` unless the status is `'error'`. A temporary
   * failure is not an error: it shows in `connection`.
   */
  readonly error: Signal<Error | undefined>;
  /** Only for Angular's `Resource`, which requires it. */
  hasValue(this: never): this is ContractsResource<C>;
  /**
   * Returns whether the contracts are known, so that an empty `value` means that there are none. This is the case while
   * the status is `'resolved'` or `'reloading'`, and after a `DecodeError`: the contracts before an update that cannot be
   * decoded stay. Reads a signal.
   */
  hasValue(): boolean;
  /**
   * Reads all contracts again, for example after an error. A view stays up to date without it.
   *
   * @returns whether it reads them: not while the status is `'idle'` or `'loading'`, not after the injector or that of its
   * ledger is destroyed, and not while the function of the query throws
   */
  reload(): boolean;
  /** The offset up to which everything is applied to `value`; `undefined` unless `hasValue()`. */
  readonly offset: Signal<Offset | undefined>;
  /**
   * Whether `value` contains everything up to the last known ledger end. If not, it is complete as of an
   * earlier offset.
   */
  readonly isLive: Signal<boolean>;
  /**
   * The time since which `isLive` is false while `hasValue()`, in milliseconds since the epoch; otherwise `undefined`.
   */
  readonly staleSince: Signal<number | undefined>;
  /**
   * Whether the contracts are those of another ledger, because the participant was restored or replaced while the view
   * was open. `undefined` if not, and again after `reload` or with another query.
   */
  readonly reset: Signal<ContractsReset | undefined>;
  /**
   * The state of the connection, and why a request is retried; `undefined` while the status is `'idle'` or `'error'`.
   */
  readonly connection: Signal<LiveConnection | undefined>;
  /**
   * Emits when `value` includes a transaction, and completes; without a value if there is no query. For the option `awaits` of
   * `injectSubmit`.
   */
  readonly after: AwaitedView['after'];
}

/**
 * The query, and the ledger that serves it.
 *
 * @internal
 */
export interface ContractsRequest<M extends ContractTypes = ContractTypes> {
  readonly query: ContractQuery<M> & ContractPolicies;
  readonly ledger: LedgerReader;
  /** The same for equal queries. */
  readonly key: string;
}

/**
 * The known contracts of a request.
 *
 * @internal
 */
export interface Reading<C extends AnyContract> {
  /** A separate object for each query and ledger; `undefined` if there is none. */
  readonly request: object | undefined;
  /** Whether the contracts are read again. */
  readonly isReloading: boolean;
  /** The contracts, once they are known. */
  readonly known?: KnownContracts<C> | undefined;
  readonly connection?: LiveConnection | undefined;
  readonly error?: Error;
}

/**
 * The contracts at an offset.
 *
 * @internal
 */
export interface KnownContracts<C extends AnyContract> {
  readonly contracts: readonly C[];
  readonly offset: Offset;
  /** `undefined` while the contracts are those at the ledger end. */
  readonly staleSince: number | undefined;
  readonly reset?: ContractsReset | undefined;
  /** The last step of the view; absent for contracts of the page. */
  readonly step?: ContractsBatch<AnyContract> | undefined;
}

/**
 * Returns the resource of the latest reading. A reading of another request is out of date as soon as the request
 * changes.
 *
 * @param endedAt - when the view ended for good; `undefined` until then
 * @param reload - returns whether there is something to read
 * @internal
 */
export function contractsResource<C extends AnyContract>(
  request: Signal<object | undefined>,
  latest: Signal<Reading<C>>,
  endedAt: Signal<number | undefined>,
  name: string,
  reload: () => boolean,
  after: AwaitedView['after'],
): ContractsResource<C> {
  const derived = <A>(part: string, value: () => A): Signal<A> => computed(value, { debugName: `${name}.${part}` });
  const reading = derived('reading', (): Reading<C> => {
    const current = request();
    const read = latest();
    const now = read.request === current ? read : { request: current, isReloading: false, connection: connecting };
    const at = endedAt();
    return at === undefined ? now : ended(now, at);
  });
  const known = derived('known', () => reading().known);
  const withoutError = derived('withoutError', () => statusOf(reading()));
  const error = derived('error', () => reading().error);
  const status = derived('status', () => (error() === undefined ? withoutError() : 'error'));
  const value = derived('value', () => known()?.contracts ?? none);
  return {
    value,
    status,
    snapshot: derived('snapshot', () => {
      const failure = error();
      if (failure !== undefined) return { status: 'error', error: failure };
      return { status: withoutError(), value: value() };
    }),
    isLoading: derived('isLoading', () => status() === 'loading' || status() === 'reloading'),
    error,
    hasValue: (() => known() !== undefined) as ContractsResource<C>['hasValue'],
    reload: () =>
      untracked(() => {
        const isPossible = endedAt() === undefined && !['idle', 'loading'].includes(status());
        return isPossible && reload();
      }),
    offset: derived('offset', () => known()?.offset),
    isLive: derived('isLive', () => known() !== undefined && known()?.staleSince === undefined),
    staleSince: derived('staleSince', () => known()?.staleSince),
    reset: derived('reset', () => known()?.reset),
    after,
    connection: derived('connection', () => (reading().request === undefined ? undefined : reading().connection)),
  };
}

/**
 * Returns a reading that has ended with an error.
 *
 * @internal
 */
export const failed = (request: object, error: unknown): Reading<never> => ({
  request,
  isReloading: false,
  error: errorOf(error),
});

/**
 * Returns a reading of a view that has ended without an error: its contracts are stale from then on.
 *
 * @internal
 */
export const ended = <C extends AnyContract>(reading: Reading<C>, at: number): Reading<C> => {
  const { known } = reading;
  const stale = known && { ...known, staleSince: known.staleSince ?? at };
  return { ...reading, isReloading: false, connection: undefined, known: stale };
};

const connecting: LiveConnection = { status: 'connecting' };

/** Always the same array, so that signals do not notify. */
const none: readonly never[] = [];

/** The status of a reading without an error. */
function statusOf({ request, known, isReloading }: Reading<AnyContract>): Exclude<ContractsStatus, 'error'> {
  if (request === undefined) return 'idle';
  if (known === undefined) return 'loading';
  return isReloading ? 'reloading' : 'resolved';
}
