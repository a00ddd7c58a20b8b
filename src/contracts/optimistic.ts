import {
  catchError,
  defer,
  distinctUntilChanged,
  endWith,
  filter,
  isObservable,
  map,
  merge,
  mergeMap,
  type Observable,
  of,
  scan,
  startWith,
  take,
  takeWhile,
  throwIfEmpty,
} from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import type { AnyContract } from './Contract.js';
import type { ContractsBatch } from './ContractChange.js';
import type { ContractSet } from './ContractSet.js';
import { inclusionOf, type TransactionPlace } from './firstWith.js';
import type { LiveContracts } from './liveContracts.js';
import { isKnown, type KnownView, type LiveConnection } from './LiveState.js';

/**
 * A change that {@link optimistic} shows before it is committed.
 *
 * @category Contracts
 */
export interface OptimisticChange<R> {
  /** Submits the change, such as `ledger.submitAndWaitForTransaction(request)`. Its first value is the commit. */
  readonly submission$: Observable<TransactionPlace>;
  /**
   * The command ID of the submission. With it, the commit is recognized in the view also before the submission has its
   * answer. Default: contracts that are added meanwhile are shown with the answer, because one of them may be that of the
   * row.
   */
  readonly commandId?: string | undefined;
  /** Rows for the contracts that the change creates, in any form. */
  readonly added?: readonly R[] | undefined;
  /** The IDs of the contracts that it archives. They are hidden. */
  readonly removed?: readonly string[] | undefined;
}

/**
 * The contracts of a view with the changes that are not committed yet.
 *
 * @category Contracts
 */
export interface OptimisticState<C extends AnyContract, R> {
  /** As in the state of the view. */
  readonly data: 'live' | 'stale';
  /** As in the state of the view. */
  readonly connection: LiveConnection;
  /** The contracts of the view, without those that a pending change removes. */
  readonly contracts: readonly C[];
  /** The rows of the pending changes, in the order in which the changes began. */
  readonly pending: readonly R[];
  /** The change that failed last, until the next one begins. Its rows are taken back. */
  readonly refused: RefusedChange<R> | undefined;
}

/**
 * A change that was taken back.
 *
 * @category Contracts
 */
export interface RefusedChange<R> {
  /** The change. */
  readonly change: OptimisticChange<R>;
  /** Why: usually a `LedgerError`. After an `OutcomeUnknownError` it may be committed, and its contracts then appear. */
  readonly error: unknown;
}

/**
 * Shows changes before they are committed. Submits each change, and shows its rows from then on, until the view has the commit:
 * the rows give way to its contracts in one step. If the submission fails, they are taken back, with the error. Either a row
 * or its contract is shown, and never both, also if the view has the commit before the submission has its answer.
 *
 * Emits as soon as the contracts of the view are known; the rows of a change that began before that come with its answer. Each subscription submits the changes; unsubscribing aborts the
 * submissions that are pending. It fails and completes with the view.
 *
 * @param view - a live view of the parties that submit
 * @param change - a change, or an Observable of changes, such as a `Subject` of what a user does
 * @example
 * ```ts
 * import { contractType, create, createLedger } from 'canton-rx';
 * import { liveContracts, optimistic } from 'canton-rx/contracts';
 * import * as t from 'io-ts';
 *
 * const Iou = contractType('#finance:Main:Iou', t.type({ owner: t.string, amount: t.string }));
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575' });
 * const ious = liveContracts(ledger, { types: { iou: Iou }, parties: ['alice::1220ab'] });
 * const row = { owner: 'alice::1220ab', amount: '10.0' };
 * const commandId = crypto.randomUUID();
 * const submission$ = ledger.submitAndWaitForTransaction({
 *   commandId,
 *   actAs: ['alice::1220ab'],
 *   commands: [create(Iou, row)],
 * });
 * const showing = optimistic(ious, { submission$, commandId, added: [row] }).subscribe(({ contracts, pending }) => {
 *   console.log(`${contracts.length} IOUs, and ${pending.length} on their way`);
 * });
 * showing.unsubscribe();
 * ```
 *
 * @category Contracts
 */
export const optimistic = <C extends AnyContract, R>(
  view: LiveContracts<C>,
  change: OptimisticChange<R> | Observable<OptimisticChange<R>>,
): Observable<OptimisticState<C, R>> =>
  defer(() => {
    const change$ = isObservable(change) ? change : of(change);
    const view$ = view.view$.pipe(
      filter(isKnown),
      map((known) => (model: Model<C, R>) => withView(model, known)),
      endWith(undefined),
    );
    // the view first: a change begins with what it knows
    return merge(view$, change$.pipe(mergeMap(stepsOf<C, R>))).pipe(
      takeWhile((step) => step !== undefined),
      scan((model, step) => step(model), start as Model<C, R>),
      distinctUntilChanged(),
      map(stateOf<C, R>),
      filter((state) => state !== undefined),
    );
  });

/** What is shown: the view, and the changes whose commit it does not have. */
interface Model<C extends AnyContract, R> {
  readonly view?: KnownView<C>;
  readonly open: readonly OpenChange<C, R>[];
  readonly refused?: RefusedChange<R> | undefined;
}

const start = { open: [] };

/** A change whose commit is not in the view. */
interface OpenChange<C extends AnyContract, R> {
  readonly change: OptimisticChange<R>;
  /** The contracts when it began; `undefined` if they were not known. */
  readonly before: ContractSet<C> | undefined;
  /** The IDs of contracts that other commands have created since. */
  readonly foreign: ReadonlySet<string>;
  /** The answer of the submission; `undefined` until it is there. */
  readonly answer?: Answer;
}

/** Where the commit of a change is, and whether a step of the view includes it. */
interface Answer {
  readonly offset: Offset;
  readonly includes: (known: ContractsBatch<AnyContract>) => boolean;
}

type Step<C extends AnyContract, R> = (model: Model<C, R>) => Model<C, R>;

/** Emits how a change begins, and how it ends. */
const stepsOf = <C extends AnyContract, R>(change: OptimisticChange<R>): Observable<Step<C, R>> =>
  change.submission$.pipe(
    take(1),
    throwIfEmpty(() => new Error('The submission has emitted no transaction.')),
    map((transaction) => (model: Model<C, R>) => withAnswer(model, change, transaction)),
    catchError((error: unknown) => of((model: Model<C, R>) => withRefusal(model, change, error))),
    startWith((model: Model<C, R>) => withChange(model, change)),
  );

const withChange = <C extends AnyContract, R>({ view, open }: Model<C, R>, change: OptimisticChange<R>) => ({
  ...(view && { view }),
  open: [...open, { change, before: view?.known.contracts, foreign: new Set<string>() }],
});

/** A change that the view has is committed, whatever its submission knows. */
const withRefusal = <C extends AnyContract, R>(model: Model<C, R>, change: OptimisticChange<R>, error: unknown) => {
  const open = model.open.filter((each) => each.change !== change);
  return open.length === model.open.length ? model : { ...model, open, refused: { change, error } };
};

const withAnswer = <C extends AnyContract, R>(
  model: Model<C, R>,
  change: OptimisticChange<R>,
  transaction: TransactionPlace,
): Model<C, R> => {
  const { view, open } = model;
  if (!open.some((each) => each.change === change)) return model;
  const answer = { offset: transaction.offset, includes: inclusionOf(transaction) };
  const answered = open.map((each) => (each.change === change ? { ...each, answer } : each));
  return { ...model, open: view === undefined ? answered : stillOpen(answered, view.known) };
};

const withView = <C extends AnyContract, R>({ open, ...model }: Model<C, R>, view: KnownView<C>): Model<C, R> => ({
  ...model,
  view,
  // a new state of the connection brings no contracts
  open: view.known === model.view?.known ? open : stillOpen(open, view.known),
});

/** Returns the changes whose commits are not in a step of the view. The contracts of the others are not theirs. */
function stillOpen<C extends AnyContract, R>(
  open: readonly OpenChange<C, R>[],
  known: ContractsBatch<C>,
): readonly OpenChange<C, R>[] {
  const still = open.filter((each) => !isIncluded(each, known));
  const ofOthers = createdBy(
    open.filter((each) => !still.includes(each)),
    known,
  );
  const ofCommands = commandsIn(known).flatMap(([, created]) => created);
  return still.map((each) => {
    if (each.answer !== undefined) return each;
    // the command of the change may be one of these if its ID is not known
    const foreign = each.change.commandId === undefined ? ofOthers : [...ofOthers, ...ofCommands];
    return foreign.length === 0 ? each : { ...each, foreign: new Set([...each.foreign, ...foreign]) };
  });
}

/** The IDs of the contracts that the commits of changes have created. */
function createdBy<C extends AnyContract, R>(
  included: readonly OpenChange<C, R>[],
  known: ContractsBatch<C>,
): readonly string[] {
  if (included.length === 0) return [];
  const offsets = included.map(({ answer }) => answer?.offset);
  const commandIds = included.map(({ change }) => change.commandId);
  const byOffset = known.contracts.toArray().filter(({ offset }) => offsets.includes(offset));
  const byCommand = commandsIn(known).filter(([commandId]) => commandIds.includes(commandId));
  return [...byOffset.map(({ contractId }) => contractId), ...byCommand.flatMap(([, created]) => created)];
}

/** Whether a step of the view has the commit of a change: by its command ID, or by its place once that is known. */
function isIncluded<C extends AnyContract, R>(
  { change: { commandId }, answer }: OpenChange<C, R>,
  known: ContractsBatch<C>,
): boolean {
  if (answer === undefined) return commandId !== undefined && commandsIn(known).some(([id]) => id === commandId);
  try {
    return answer.includes(known);
  } catch {
    // the view has left the ledger of the commit
    return true;
  }
}

/** The command IDs in a step, each with the contracts that it has created. A party sees those of the commands that it has submitted. */
const commandsIn = ({ items }: ContractsBatch<AnyContract>): readonly (readonly [string, readonly string[]])[] =>
  items.flatMap((item) => {
    const update = item._tag === 'ContractsChanged' ? item.update : undefined;
    if (update?.commandId === undefined || update.commandId === '') return [];
    const created = update.events.flatMap((event) => (event._tag === 'CreatedEvent' ? [event.contractId] : []));
    return [[update.commandId, created] as const];
  });

function stateOf<C extends AnyContract, R>({ view, open, refused }: Model<C, R>): OptimisticState<C, R> | undefined {
  if (view === undefined) return undefined;
  const { known, connection, isLive } = view;
  const removed = new Set(open.flatMap(({ change }) => change.removed ?? []));
  const unanswered = open.filter(({ answer, change }) => answer === undefined && change.added !== undefined);
  const isShown = ({ contractId }: C): boolean =>
    !removed.has(contractId) && !unanswered.some((each) => mayBeOf(each, contractId));
  const all = known.contracts.toArray();
  return {
    data: isLive ? 'live' : 'stale',
    connection,
    contracts: open.length === 0 ? all : all.filter(isShown),
    // contracts that were not known when the change began may be its own
    pending: open.flatMap(({ change, before, answer }) =>
      before === undefined && answer === undefined ? [] : (change.added ?? []),
    ),
    refused,
  };
}

/** Whether a contract may be one that a change without an answer has created. */
const mayBeOf = <C extends AnyContract, R>({ before, foreign }: OpenChange<C, R>, contractId: string): boolean =>
  before?.has(contractId) === false && !foreign.has(contractId);
