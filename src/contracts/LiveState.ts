import { concatMap, defer, distinctUntilChanged, map, mergeAll, type Observable, scan } from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import type { Diagnostic } from '../diagnostics/Diagnostic.js';
import { isLedgerError, type LedgerError } from '../errors/LedgerError.js';
import { textOf } from '../errors/textOf.js';
import type { AnyContract } from './Contract.js';
import type { ContractChange, ContractsBatch, ContractsReconciled, Reset } from './ContractChange.js';
import type { ContractSet } from './ContractSet.js';

/**
 * The state of a live view: what is known of the contracts, and the state of the connection. The two change
 * independently. A state never changes: after a change, the view emits another one.
 *
 * @category Contracts
 */
export type LiveState<C extends AnyContract = AnyContract> =
  ContractsLoading | ContractsKnown<C, 'live'> | ContractsKnown<C, 'stale'>;

/**
 * The state before the contracts are known.
 *
 * @category Contracts
 */
export interface ContractsLoading {
  /** The discriminant. */
  readonly data: 'loading';
  /** The state of the connection. */
  readonly connection: LiveConnection;
}

/**
 * The state once the contracts are known.
 *
 * @category Contracts
 */
export interface ContractsKnown<C extends AnyContract = AnyContract, D extends 'live' | 'stale' = 'live' | 'stale'> {
  /**
   * The discriminant. `'live'` if everything up to the last known ledger end has been applied. `'stale'`
   * while there is more to apply, while a request is retried, and while the contracts are read again after a gap. Stale
   * contracts are complete as of their offset.
   */
  readonly data: D;
  /** The state of the connection. */
  readonly connection: LiveConnection;
  /** The offset up to which everything has been applied. */
  readonly offset: Offset;
  /** The contracts. */
  readonly contracts: ContractSet<C>;
}

/**
 * The state of the connection of a live view.
 *
 * @category Contracts
 */
export type LiveConnection =
  | {
      /** Nothing has been received yet. */
      readonly status: 'connecting';
    }
  | {
      /** The last request was answered, or a WebSocket is open. */
      readonly status: 'open';
    }
  | {
      /** A request has failed and will be repeated. */
      readonly status: 'retrying';
      /** The error of the last attempt. */
      readonly cause: LedgerError;
      /** The number of consecutive failures. */
      readonly attempt: number;
      /** When the request is repeated, in milliseconds since the epoch. */
      readonly retryAt: number;
    };

/** The knowledge of a view after the last step of the join and the last diagnostic of its feed. */
export interface View<C extends AnyContract> {
  readonly connection: LiveConnection;
  /** Absent until the first snapshot is complete. */
  readonly known?: ContractsBatch<C>;
  /** Whether the contracts are those at the last known ledger end. */
  readonly isLive: boolean;
  /** Whether the contracts are those from before a reload that has not ended. */
  readonly isReloading?: boolean;
}

/** Emits the states of a view after `loading`, from the steps of the join and the diagnostics of its feed. */
export const viewOf = <C extends AnyContract>(
  steps$: Observable<ContractsBatch<C>>,
  diagnostics$: Observable<Diagnostic>,
): Observable<View<C>> =>
  defer(() => [
    // subscribed first, so that nothing is missed
    diagnostics$.pipe(map((diagnostic) => (view: View<C>) => withDiagnostic(view, diagnostic))),
    steps$.pipe(map((step) => () => withStep(step))),
  ]).pipe(
    mergeAll(),
    scan((view, change) => change(view), loading as View<C>),
    // reading a contract may report that it cannot be decoded while another value is being emitted
    distinctUntilChanged(),
  );

/** The state of a view before anything is known. */
export const loading: View<never> = { connection: { status: 'connecting' }, isLive: false };

const open: LiveConnection = { status: 'open' };

/** Only a step makes a view live: a response alone may bring changes that are not applied yet. */
const withStep = <C extends AnyContract>(step: ContractsBatch<C>): View<C> => ({
  connection: open,
  known: step,
  isLive: step.isCaughtUp,
});

function withDiagnostic<C extends AnyContract>(view: View<C>, diagnostic: Diagnostic): View<C> {
  switch (diagnostic._tag) {
    case 'RetryScheduled': {
      const { cause, failures: attempt, at, delayMs } = diagnostic;
      return { ...view, connection: { status: 'retrying', cause, attempt, retryAt: at + delayMs }, isLive: false };
    }
    case 'PageReceived':
    case 'SocketOpened':
    case 'SnapshotPageReceived':
      return { ...view, connection: open };
    case 'FeedEnded':
      // there are no more changes
      return { ...view, isLive: false };
    default:
      return view;
  }
}

/**
 * Whether the contracts may still be shown after the error that ended a view: those before an update that cannot be decoded are
 * right as of their offset. After any other error they may not be, or not for this user.
 */
export const keepsContracts = (error: unknown): boolean => isLedgerError(error, 'DecodeError');

/** Returns what has ended a view or a submission as an error: a function of the caller may throw anything. */
export const errorOf = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(textOf(thrown)));

/** Returns the state of a view as subscribers see it. */
export const stateOf = <C extends AnyContract>(view: View<C>): LiveState<C> =>
  isKnown(view) ? knownStateOf(view) : { data: 'loading', connection: view.connection };

/** Returns the state of a view whose contracts are known. */
export const knownStateOf = <C extends AnyContract>({ connection, known, isLive }: KnownView<C>): KnownState<C> => {
  const { offset, contracts } = known;
  return { data: isLive ? 'live' : 'stale', connection, offset, contracts };
};

type KnownState<C extends AnyContract> = ContractsKnown<C, 'live'> | ContractsKnown<C, 'stale'>;

/** A view whose contracts are known. */
export type KnownView<C extends AnyContract> = View<C> & Required<Pick<View<C>, 'known'>>;

export const isKnown = <C extends AnyContract>(view: View<C>): view is KnownView<C> => view.known !== undefined;

/** Whether two views show subscribers the same state. */
export const isSameState = <C extends AnyContract>(a: View<C>, b: View<C>): boolean =>
  a.connection === b.connection &&
  a.isLive === b.isLive &&
  a.isReloading === b.isReloading &&
  a.known?.offset === b.known?.offset &&
  a.known?.contracts === b.known?.contracts;

/**
 * Emits the changes of steps, and whether they have caught up.
 *
 * @param hasContracts - whether the subscriber has the contracts of the first step. If not, they are its `Reset`
 */
export const toChanges = <C extends AnyContract>(
  steps$: Observable<ContractsBatch<C>>,
  hasContracts = false,
): Observable<ContractChange<C>> =>
  defer(() => {
    let isKnown = hasContracts;
    let wasCaughtUp = false;
    return steps$.pipe(
      concatMap((step, index): readonly ContractChange<C>[] => {
        const { offset, isCaughtUp, contracts } = step;
        const reset = isKnown ? resetOf(step) : { reason: 'start' as const };
        const changes: readonly ContractChange<C>[] =
          reset === undefined
            ? [...step.items, ...(index === 0 ? [] : otherParties(step))]
            : [{ _tag: 'Reset', reason: reset.reason, offset, contracts: contracts.toArray() }];
        const hasLagChanged = isCaughtUp !== wasCaughtUp;
        isKnown = true;
        wasCaughtUp = isCaughtUp;
        return hasLagChanged ? [...changes, { _tag: isCaughtUp ? 'CaughtUp' : 'FellBehind', offset }] : changes;
      }),
    );
  });

/**
 * Returns the change that says that other parties are selected, unless the step has it. What a subscriber keeps of earlier changes
 * may be of a party that was taken away, also if none of its contracts is left.
 */
function otherParties({ parties, items, offset }: ContractsBatch<AnyContract>): readonly ContractsReconciled<never>[] {
  const isSaid = items.some((change) => change._tag === 'ContractsChanged' && change.reason === 'selectionChanged');
  if (parties === undefined || isSaid) return [];
  return [{ _tag: 'ContractsChanged', reason: 'selectionChanged', offset, added: [], removed: [], moved: [] }];
}

/** Returns the `Reset` of a step that replaces all contracts. Of several ones, one that says that they are of another ledger. */
export const resetOf = <C extends AnyContract>({ items }: Pick<ContractsBatch<C>, 'items'>): Reset<C> | undefined => {
  const resets = items.filter((change) => change._tag === 'Reset');
  return resets.find(({ reason }) => reason === 'ledgerReset') ?? resets[0];
};

/**
 * Marks contracts of another ledger than the one with which the view began.
 *
 * @category Contracts
 */
export interface ContractsReset {
  /** When the view was given the contracts of the other ledger, in milliseconds since the epoch. */
  readonly at: number;
  /** The offset of these contracts. Offsets of the former ledger have no meaning any more. */
  readonly offset: Offset;
}
