import { computed, type Signal, untracked } from '@angular/core';
import type { Offset } from '../codecs/scalars.js';
import type { AnyContract } from '../contracts/Contract.js';
import type { LiveConnection } from '../contracts/LiveState.js';

/**
 * What a {@link ContractsResource} does; the words of Angular's resources.
 *
 * @category Angular
 */
export type ContractsStatus = 'idle' | 'loading' | 'reloading' | 'resolved' | 'error';

/**
 * The contracts of a query as signals, in the shape of Angular's resources. `injectContracts` makes one. All signals change
 * together, and at most once per frame. None of them throws when it is read.
 *
 * @category Angular
 */
export interface ContractsResource<C extends AnyContract = AnyContract> {
  /**
   * The contracts, if `hasValue()`; otherwise an empty array. A new array whenever a contract has changed, in which those
   * that have not are the same objects.
   */
  readonly value: Signal<readonly C[]>;
  /**
   * What the resource does. `'idle'`: there is no query. `'loading'`: the contracts are not known yet. `'resolved'`: they are
   * known, and followed. `'reloading'`: they are read again since `reload` was called, and those from before are shown.
   * `'error'`: the view has ended, see `error`.
   */
  readonly status: Signal<ContractsStatus>;
  /** Whether the status is `'loading'` or `'reloading'`. */
  readonly isLoading: Signal<boolean>;
  /**
   * The error that ended the view, usually a `LedgerError`; `undefined` unless the status is `'error'`. What may pass is no
   * error: it shows in `connection`.
   */
  readonly error: Signal<Error | undefined>;
  /**
   * Whether the contracts are known, so that an empty `value` means that there are none. That is so while the status is
   * `'resolved'` or `'reloading'`. Reads a signal.
   */
  hasValue(): boolean;
  /**
   * Reads all contracts again, for example after an error. A view is current without it.
   *
   * @returns whether it does: not while the status is `'idle'` or `'loading'`, and not once the injector is destroyed
   */
  reload(): boolean;
  /** Everything up to here is applied to `value`; `undefined` unless `hasValue()`. */
  readonly offset: Signal<Offset | undefined>;
  /**
   * Whether `value` has everything up to the end of the ledger, as far as it is known. If not, it is complete for an earlier
   * offset.
   */
  readonly isLive: Signal<boolean>;
  /** Since when `isLive` is false although `hasValue()`, in milliseconds since the epoch; otherwise `undefined`. */
  readonly staleSince: Signal<number | undefined>;
  /** What the connection does, and why it is retried; `undefined` while the status is `'idle'` or `'error'`. */
  readonly connection: Signal<LiveConnection | undefined>;
}

/**
 * What is known of the contracts of a request.
 *
 * @internal
 */
export interface Reading<C extends AnyContract> {
  /** An object of its own for each query and ledger; `undefined` if there is none. */
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
  /** `undefined` while they are those at the end of the ledger. */
  readonly staleSince: number | undefined;
}

/**
 * The resource of the latest reading. One of another request is out of date from the moment on in which the request changes.
 *
 * @param endedAt - when the view has ended for good; `undefined` until then
 * @internal
 */
export function contractsResource<C extends AnyContract>(
  request: Signal<object | undefined>,
  latest: Signal<Reading<C>>,
  endedAt: Signal<number | undefined>,
  name: string,
  reload: () => void,
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
  const status = derived('status', () => statusOf(reading()));
  return {
    value: derived('value', () => known()?.contracts ?? none),
    status,
    isLoading: derived('isLoading', () => status() === 'loading' || status() === 'reloading'),
    error: derived('error', () => reading().error),
    hasValue: () => known() !== undefined,
    reload: () => {
      const isPossible = untracked(() => endedAt() === undefined && !['idle', 'loading'].includes(status()));
      if (isPossible) reload();
      return isPossible;
    },
    offset: derived('offset', () => known()?.offset),
    isLive: derived('isLive', () => known() !== undefined && known()?.staleSince === undefined),
    staleSince: derived('staleSince', () => known()?.staleSince),
    connection: derived('connection', () => (reading().request === undefined ? undefined : reading().connection)),
  };
}

/**
 * A reading that has ended with an error.
 *
 * @internal
 */
export const failed = (request: object, error: unknown): Reading<never> => ({
  request,
  isReloading: false,
  error: error instanceof Error ? error : new Error(String(error)),
});

/**
 * A reading of a view that has ended without an error: its contracts are stale from then on.
 *
 * @internal
 */
export const ended = <C extends AnyContract>(reading: Reading<C>, at: number): Reading<C> => {
  const { known } = reading;
  const stale = known && { ...known, staleSince: known.staleSince ?? at };
  return { ...reading, isReloading: false, connection: undefined, known: stale };
};

const connecting: LiveConnection = { status: 'connecting' };

/** The same array each time, so that nothing is notified. */
const none: readonly never[] = [];

function statusOf({ request, error, known, isReloading }: Reading<AnyContract>): ContractsStatus {
  if (request === undefined) return 'idle';
  if (error !== undefined) return 'error';
  if (known === undefined) return 'loading';
  return isReloading ? 'reloading' : 'resolved';
}
