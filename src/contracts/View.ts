import { concatMap, defer, distinctUntilChanged, map, mergeAll, type Observable, scan } from 'rxjs';
import type { Diagnostic } from '../diagnostics/Diagnostic.js';
import type { AnyContract } from './Contract.js';
import type { ContractChange, Reset } from './ContractChange.js';
import { type ContractSet, contractSet } from './ContractSet.js';
import type { JoinStep } from './join.js';
import type { LiveConnection, LiveState } from './LiveState.js';

/** The state of a live view. */
export interface View<C extends AnyContract> {
  readonly connection: LiveConnection;
  /** Absent until the first snapshot is complete. */
  readonly known?: Known<C>;
  /** Whether the contracts are those at the ledger end, as far as it is known. */
  readonly isLive: boolean;
}

/** The contracts after one step of the join, or after several merged steps. */
export interface Known<C extends AnyContract> extends Omit<JoinStep<C>, 'fold'> {
  /** The same object as before if the step changed no contract. */
  readonly contracts: ContractSet<C>;
}

/** Emits the states of a view after `loading`, from the steps of the join and the diagnostics of its feed. */
export const viewOf = <C extends AnyContract>(
  steps$: Observable<JoinStep<C>>,
  diagnostics$: Observable<Diagnostic>,
): Observable<View<C>> =>
  defer(() => [
    // subscribed first, so that nothing is missed
    diagnostics$.pipe(map((diagnostic) => (view: View<C>) => withDiagnostic(view, diagnostic))),
    steps$.pipe(map((step) => (view: View<C>) => withStep(view, step))),
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
function withStep<C extends AnyContract>({ known: before }: View<C>, { fold, ...step }: JoinStep<C>): View<C> {
  const isSame = step.changes.every(({ _tag }) => _tag === 'OffsetCheckpoint');
  const contracts = isSame && before !== undefined ? before.contracts : contractSet(fold.contracts);
  return { connection: open, known: { ...step, contracts }, isLive: step.isCaughtUp };
}

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

/** Returns the state of a view as subscribers see it. */
export const stateOf = <C extends AnyContract>({ connection, known, isLive }: View<C>): LiveState<C> =>
  known === undefined
    ? { data: 'loading', connection }
    : { data: isLive ? 'live' : 'stale', connection, offset: known.offset, contracts: known.contracts };

/** Whether two views show subscribers the same state. */
export const isSameState = <C extends AnyContract>(a: View<C>, b: View<C>): boolean =>
  a.connection === b.connection &&
  a.isLive === b.isLive &&
  a.known?.offset === b.known?.offset &&
  a.known?.contracts === b.known?.contracts;

/** Emits the changes after the contracts that a subscriber sees first, which are its `Reset`. */
export const toChanges = <C extends AnyContract>(known$: Observable<Known<C>>): Observable<ContractChange<C>> =>
  defer(() => {
    let before: Known<C> | undefined;
    return known$.pipe(
      concatMap((now) => {
        const changes = changesSince(before, now);
        before = now;
        return changes;
      }),
    );
  });

function changesSince<C extends AnyContract>(before: Known<C> | undefined, now: Known<C>): ContractChange<C>[] {
  const { offset, isCaughtUp, contracts } = now;
  const reset = before === undefined ? ({ reason: 'start' } as const) : resetOf(now);
  const changes: readonly ContractChange<C>[] =
    reset === undefined
      ? now.changes
      : [{ _tag: 'Reset', reason: reset.reason, offset, contracts: contracts.toArray() }];
  if (isCaughtUp === (before?.isCaughtUp ?? false)) return [...changes];
  return [...changes, { _tag: isCaughtUp ? 'CaughtUp' : 'FellBehind', offset }];
}

/** Returns the `Reset` of a step that replaces all contracts. */
export const resetOf = <C extends AnyContract>({ changes }: Known<C>): Reset<C> | undefined =>
  changes.find((change) => change._tag === 'Reset');
