import {
  catchError,
  concat,
  concatMap,
  connect,
  defer,
  EMPTY,
  endWith,
  finalize,
  ignoreElements,
  isObservable,
  merge,
  type Observable,
  of,
  take,
  takeUntil,
  tap,
  throwIfEmpty,
  timer,
} from 'rxjs';
import { Offset } from '../codecs/scalars.js';
import type { SubmittedTransaction } from '../codecs/Transaction.js';
import type { Contract } from '../contracts/Contract.js';
import type { ContractSet } from '../contracts/ContractSet.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { decide, type Decision, explain } from './decide.js';
import type { Entry, Submission } from './Entry.js';
import type { Memory } from './Memory.js';
import { commit, fail, giveUp, isLost, type LostError, type OutcomeContext, refuse } from './outcome.js';
import { type Acted, type ActionRequest, prunedError, type Rule } from './Rule.js';

/** What the work on all contracts of a rule has in common. */
export interface RuleRun extends OutcomeContext {
  readonly rule: Rule;
  readonly memory: Memory;
  readonly actTimeoutMs: number;
  readonly submit: (request: ActionRequest, entry: Entry) => Observable<SubmittedTransaction>;
  /** Emits once when the rule is stopped. */
  readonly stop$: Observable<unknown>;
  /** Called when the agenda may have more to do. */
  readonly wake: () => void;
  /** Whether the choices of the actions so far have always archived their contract. */
  readonly consuming: Map<string, boolean>;
}

/** Decides on a contract and submits the decision, or continues with a submission. Emits what it did, and never fails. */
export const act = (run: RuleRun, entry: Entry): Observable<Acted> =>
  defer(() => {
    const { agenda } = run;
    const { giveBack, end } = agenda.places.take();
    const { submission } = entry;
    return (submission === undefined ? decideOn(run, entry, giveBack) : submit(run, entry, submission)).pipe(
      finalize(() => {
        end();
        run.wake();
      }),
    );
  });

/** How long a decision keeps its place, in milliseconds: one that never ends must not keep the others waiting. */
const slowAfterMs = 20;

function decideOn(run: RuleRun, entry: Entry, giveBack: () => void): Observable<Acted> {
  const { rule, agenda, actTimeoutMs } = run;
  const { contract, failures, races } = entry;
  const { contracts, offset } = agenda;
  if (contracts === undefined) return EMPTY;
  const basis = { contract, contracts, offset };
  let decision: ReturnType<typeof decide>;
  try {
    if (!agenda.confirm(entry)) return EMPTY;
    decision = decide(rule, contract, { contracts, attempt: failures + races + 1 }, actTimeoutMs);
  } catch (error) {
    return of(fail(run, entry, explain(rule, contract, error)));
  }
  if (!isObservable(decision)) {
    const submission = accept(run, entry, decision, basis);
    return submission === undefined ? EMPTY : submit(run, entry, submission);
  }
  const slow$ = timer(slowAfterMs).pipe(
    tap(() => {
      giveBack();
      run.wake();
    }),
    ignoreElements(),
  );
  return decision.pipe(
    tap((decided) => {
      if (accept(run, entry, decided, basis) !== undefined) agenda.ready(entry);
    }),
    ignoreElements(),
    catchError((error: unknown) => (entry.isGone ? [] : [fail(run, entry, error)])),
    connect((acted$) => merge(acted$, slow$.pipe(takeUntil(acted$.pipe(ignoreElements(), endWith(true)))))),
    takeUntil(run.stop$),
  );
}

/** What a decision is made by. */
interface Basis {
  readonly contract: Contract;
  readonly contracts: ContractSet;
  readonly offset: Offset;
}

/** Notes what a rule decided. Returns what to submit, if there is anything. */
function accept(
  { agenda, memory }: RuleRun,
  entry: Entry,
  { round, request }: Decision,
  { contract, contracts, offset }: Basis,
): Submission | undefined {
  if (entry.isGone) return undefined;
  if (entry.contract !== contract) {
    agenda.reconsider(entry);
    return undefined;
  }
  const isCommitted = request !== undefined && memory.has(request.commandId);
  if (isCommitted) entry.endedRounds.add(round);
  entry.submission = request === undefined || isCommitted ? undefined : { round, request, decidedAt: offset };
  if (entry.submission === undefined) agenda.rest(entry, round, contracts);
  return entry.submission;
}

/** Submits what was decided, or continues with a submission whose outcome was unknown. */
const submit = (run: RuleRun, entry: Entry, submission: Submission): Observable<Acted> =>
  defer(() => {
    const { agenda, memory } = run;
    const { round, request } = submission;
    const since = (submission.since ??= isSafe(run, entry, submission) ? agenda.earliest : 0);
    const deduplicationPeriod = { DeduplicationOffset: { value: since } };
    submission.transaction$ ??= run.submit({ ...request, deduplicationPeriod }, entry);
    const begun$ = consumes(run, entry, submission) ? EMPTY : memory.begin(request.commandId, agenda.offset);
    return concat(begun$, submission.transaction$.pipe(throwIfEmpty(), take(1))).pipe(
      concatMap((transaction) => {
        memory.end(request.commandId, transaction);
        learn(run, entry, submission, transaction);
        // the memory may not be saved again for a long time
        const committed$ = defer(() => [commit(run, entry, transaction)]);
        return concat(memory.flush(), committed$);
      }),
      catchError((error: unknown) => {
        // of the memory: what is not saved must not be submitted
        if (isLedgerError(error, 'StoreError', 'CursorError')) throw error;
        if (isLost(error)) return [lose(run, entry, submission, error)];
        const earliest = earliestOffset(error);
        if (isLedgerError(error, 'OutcomeUnknownError') && error.completionOffset !== undefined)
          memory.end(request.commandId);
        if (earliest === undefined) return refuse(run, entry, error);
        agenda.earliest = Math.max(agenda.earliest, earliest);
        if (!isSafe(run, entry, submission)) {
          if (run.rule.done === undefined)
            return [giveUp(entry, round, prunedError(run.rule.name, entry.contract.contractId, earliest))];
          // decided again once the contracts show whether an action before that offset took effect
          entry.submission = undefined;
          agenda.await(entry, earliest);
          return [];
        }
        entry.submission = { round, request, decidedAt: submission.decidedAt };
        return earliest > since ? submit(run, entry, entry.submission) : refuse(run, entry, error);
      }),
    );
  }).pipe(
    catchError((error: unknown) => {
      if (isLedgerError(error, 'StoreError', 'CursorError')) throw error;
      return refuse(run, entry, error);
    }),
  );

/** The outcome of a submission is lost. The action is decided again if the contracts show whether it was committed. */
function lose(run: RuleRun, entry: Entry, submission: Submission, error: LostError): Acted {
  const { agenda, rule } = run;
  const { earliestOffset: earliest } = error.lastError;
  if (earliest !== undefined) agenda.earliest = Math.max(agenda.earliest, earliest);
  const isShown =
    consumes(run, entry, submission) ||
    (earliest !== undefined && (rule.done !== undefined || (entry.createdOffset ?? -1) >= earliest));
  if (entry.isGone || !isShown) return giveUp(entry, submission.round, error);
  entry.submission = undefined;
  return fail(run, entry, error);
}

/** The smallest offset from which a participant that is pruned recognizes repetitions. */
function earliestOffset(error: unknown): Offset | undefined {
  if (!isLedgerError(error, 'SubmissionRejectedError') || error.code !== 'INVALID_DEDUPLICATION_PERIOD')
    return undefined;
  const earliest = Number(error.context['earliest_offset']);
  return Offset.is(earliest) ? earliest : undefined;
}

/**
 * Whether no earlier run can have committed the action before the earliest offset from which the participant recognizes
 * repetitions. Otherwise, only a period since the beginning is safe: it lets a participant that is pruned accept nothing new.
 */
const isSafe = (run: RuleRun, entry: Entry, submission: Submission): boolean => {
  const { agenda, memory, rule } = run;
  // contracts that are still active, or that show no effect of the action, prove that it was not committed
  if (consumes(run, entry, submission) || (rule.done !== undefined && submission.decidedAt >= agenda.earliest))
    return true;
  return (
    (entry.createdOffset ?? -1) >= agenda.earliest || memory.excludes(submission.request.commandId, agenda.earliest)
  );
};

/** Whether the action archives its contract, as far as that is known. */
const consumes = ({ rule, consuming }: RuleRun, { contract }: Entry, { request }: Submission): boolean => {
  if (rule.consumes !== undefined) return rule.consumes;
  const choice = choiceOn(contract.contractId, request);
  return choice !== undefined && (choice.endsWith(':Archive') || consuming.get(choice) === true);
};

/** Notes whether a choice has archived its contract. If the transaction had other commands, they may have. */
function learn(
  { consuming }: RuleRun,
  { contract }: Entry,
  { request }: Submission,
  { events }: SubmittedTransaction,
): void {
  const { contractId } = contract;
  const choice = choiceOn(contractId, request);
  if (choice === undefined || request.commands.length > 1) return;
  const isArchived = events.some((event) => event._tag === 'ArchivedEvent' && event.contractId === contractId);
  consuming.set(choice, isArchived && consuming.get(choice) !== false);
}

/** The template and the choice that a request exercises on a contract; `undefined` unless it is exactly one. */
function choiceOn(contractId: string, { commands }: Submission['request']): string | undefined {
  const choices = commands.flatMap((command) =>
    'ExerciseCommand' in command && command.ExerciseCommand.contractId === contractId
      ? [`${command.ExerciseCommand.templateId}:${command.ExerciseCommand.choice}`]
      : [],
  );
  return choices.length === 1 ? choices[0] : undefined;
}
