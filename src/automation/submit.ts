import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  ignoreElements,
  type Observable,
  take,
  tap,
  throwIfEmpty,
} from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import type { SubmittedTransaction } from '../codecs/Transaction.js';
import type { TransactionPlace } from '../contracts/firstWith.js';
import { delayAfter, halfJitter } from '../dispatch/Places.js';
import { type Verdict, verdictOf } from '../dispatch/verdict.js';
import { isLedgerError } from '../errors/LedgerError.js';
import type { SubmissionRejectedError } from '../errors/submission.js';
import type { CompleteRetryPolicy } from '../http/retry.js';
import type { Stop } from '../process/Stop.js';
import type { Agenda } from './Agenda.js';
import type { Effects } from './Effects.js';
import type { Memory } from './Memory.js';
import type { Entry, Submission } from './Entry.js';
import { type Acted, type ActionRequest, type Rule, RuleError } from './Rule.js';

/** What the work on all contracts of a rule has in common. */
export interface RuleRun {
  readonly rule: Rule;
  readonly agenda: Agenda;
  readonly memory: Memory;
  readonly effects: Effects;
  /** The delays after failures. */
  readonly retry: CompleteRetryPolicy;
  readonly actTimeoutMs: number;
  /** Reads the offset at which a contract was created; `undefined` if the participant does not have it. */
  readonly readCreatedOffset: (contractId: string) => Observable<Offset | undefined>;
  readonly submit: (request: ActionRequest, entry: Entry) => Observable<SubmittedTransaction>;
  readonly stop: Stop;
}

/** Submits what was decided, or continues with a submission whose outcome was unknown. Fails only if the memory does. */
export const submit = (run: RuleRun, entry: Entry, submission: Submission): Observable<Acted> => {
  const { agenda, memory, effects } = run;
  const { request } = submission;
  return concat(
    defer(() => learnCreation(run, entry, submission)),
    defer(() => send(run, entry, submission)),
  ).pipe(
    concatMap((transaction) => {
      memory.end(request.commandId, transaction);
      if (effects.learn(entry, submission, transaction)) agenda.reopen();
      // the memory may not be saved again for a long time
      const committed$ = defer(() => [commit(run, entry, transaction)]);
      return concat(memory.flush(), committed$);
    }),
    catchError((error: unknown) => refuse(run, entry, submission, error)),
  );
};

/** Sends the request when it is saved that it may be sent. */
function send({ agenda, memory, effects, ...run }: RuleRun, entry: Entry, submission: Submission) {
  const { request } = submission;
  submission.since ??= effects.isSafe(entry, submission) ? effects.earliest : 0;
  const deduplicationPeriod = { DeduplicationOffset: { value: submission.since } };
  submission.transaction$ ??= run.submit({ ...request, deduplicationPeriod }, entry);
  const begun$ = effects.consumes(entry, submission)
    ? EMPTY
    : memory.begin(request.commandId, agenda.offset, agenda.moves);
  return concat(begun$, submission.transaction$.pipe(throwIfEmpty(), take(1)));
}

/** Reads when the contract was created, if the period of the first attempt depends on it. */
function learnCreation({ effects, readCreatedOffset }: RuleRun, entry: Entry, submission: Submission) {
  if (submission.since !== undefined || !effects.needsCreation(entry, submission)) return EMPTY;
  return readCreatedOffset(entry.contract.contractId).pipe(
    tap((offset) => {
      entry.createdOffset = offset;
      entry.isCreationKnown = true;
    }),
    ignoreElements(),
  );
}

/** The ledger committed the action. */
function commit(run: RuleRun, entry: Entry, transaction: SubmittedTransaction): Acted {
  end(run, entry, transaction);
  const { contractId, createdAt } = entry.contract;
  return { _tag: 'Committed', contractId, transaction, isRepeated: transaction.isRepeated === true, createdAt };
}

/** The action is committed: its transaction is known, or only the offset of that. */
function end({ agenda }: RuleRun, entry: Entry, place: TransactionPlace | Offset): void {
  entry.endedRounds.add(entry.submission?.round ?? '');
  Object.assign(entry, { submission: undefined, parkedRound: undefined, failures: 0, races: 0 });
  agenda.await(entry, place);
  agenda.places.resume();
}

/** The submission of an action failed. Decides what that means for its contract, and when it is tried again. */
function refuse(run: RuleRun, entry: Entry, submission: Submission, error: unknown): Acted[] {
  const { contractId } = entry.contract;
  // of the memory: what is not saved must not be submitted
  if (isLedgerError(error, 'StoreError', 'CursorError')) throw error;
  const verdict = verdictOf(error);
  switch (verdict.kind) {
    case 'committed':
      run.memory.end(submission.request.commandId);
      end(run, entry, verdict.offset);
      return [{ _tag: 'Failed', contractId, error }];
    case 'unknown':
      return [unclear(run, entry, submission, error, verdict)];
    case 'refused':
      run.memory.refused(submission.request.commandId);
      if (verdict.earliest !== undefined && verdict.earliest < Infinity && verdict.earliest > (submission.since ?? 0))
        return prune(run, entry, submission, verdict.earliest);
  }
  entry.submission = undefined;
  // whatever the reason, there is nothing left to act on
  if (entry.isGone) return [{ _tag: 'Obsolete', contractId }];
  if (verdict.kind === 'refused' && verdict.concernsAll) return [pause(run, entry, error)];
  if (isLedgerError(error, 'SubmissionRejectedError')) {
    run.agenda.places.resume();
    if (error.isContention) return overtake(run, entry, error);
  }
  return [fail(run, entry, error)];
}

/** The participant has forgotten what was committed before an offset. The action is submitted again if that is safe. */
function prune({ agenda, effects, rule }: RuleRun, entry: Entry, submission: Submission, earliest: Offset): Acted[] {
  const { round, request, decidedAt } = submission;
  effects.forget(earliest);
  if (effects.isSafe(entry, submission) || effects.needsCreation(entry, submission)) {
    entry.submission = { round, request, decidedAt };
    agenda.ready(entry);
    return [];
  }
  if (rule.done === undefined)
    return [giveUp(entry, round, prunedError(rule.name, entry.contract.contractId, earliest))];
  // decided again once the contracts show whether an action before that offset took effect
  entry.submission = undefined;
  agenda.await(entry, earliest);
  return [];
}

const prunedError = (rule: string, contractId: string, earliest: number): RuleError =>
  new RuleError(
    'pruned',
    rule,
    contractId,
    `the contract is older than offset ${earliest}, before which the participant is pruned, so that an earlier run may have acted on it. Give the rule done, or set consumes if its actions archive the contract. A store knows nothing of runs without it`,
  );

/** How often the outcome for a contract that is gone is determined again, before it stays unknown. */
const maxUnclear = 5;

/** The outcome must be known before anything else is done. The submission continues later, with the same commands. */
function unclear(
  run: RuleRun,
  entry: Entry,
  submission: Submission,
  error: unknown,
  { isReset, prunedTo }: Extract<Verdict, { readonly kind: 'unknown' }>,
): Acted {
  if (prunedTo !== undefined) return lose(run, entry, submission, error, prunedTo);
  // nothing more can be done for the contract, and the participant may have pruned what would show the outcome
  if (entry.isGone && (isReset || entry.failures >= maxUnclear)) return giveUp(entry, submission.round, error);
  // the submission began on another ledger, as far as it knows: only a new one learns of the present ledger
  if (isReset) submission.transaction$ = undefined;
  return fail(run, entry, error);
}

/** The participant has pruned the outcome. The action is decided again if the contracts show whether it was committed. */
function lose(run: RuleRun, entry: Entry, submission: Submission, error: unknown, earliest: Offset): Acted {
  const { rule, effects } = run;
  if (earliest < Infinity) effects.forget(earliest);
  const isShown =
    effects.consumes(entry, submission) ||
    (earliest < Infinity && (rule.done !== undefined || (entry.createdOffset ?? -1) >= earliest));
  if (entry.isGone || !isShown) return giveUp(entry, submission.round, error);
  entry.submission = undefined;
  return fail(run, entry, error);
}

/** The action failed, and is not tried again in its round. */
function giveUp(entry: Entry, round: string, error: unknown): Acted {
  Object.assign(entry, { state: 'idle', submission: undefined, parkedRound: round });
  entry.endedRounds.add(round);
  return { _tag: 'Failed', contractId: entry.contract.contractId, error };
}

/** The rule begins nothing for a while. */
const pause = ({ agenda, retry }: RuleRun, entry: Entry, error: unknown): Acted =>
  retryAfter(agenda, entry, error, agenda.places.beginPause(retry));

/** How many times an action that lost a race is decided again before that counts as a failure. */
const maxRaces = 5;

/** The maximum delay before the first of these decisions, in milliseconds. */
const raceDelayMs = 200;

/** Another transaction uses the same contracts: the action is decided again, by what the view shows then. */
function overtake(run: RuleRun, entry: Entry, error: SubmissionRejectedError): Acted[] {
  if (entry.races >= maxRaces) return [fail(run, entry, error)];
  run.agenda.retry(entry, halfJitter(raceDelayMs * 2 ** entry.races));
  entry.races += 1;
  return [];
}

/** The action failed. It is tried again after a delay that grows. */
export const fail = ({ agenda, retry }: RuleRun, entry: Entry, error: unknown): Acted =>
  retryAfter(agenda, entry, error, delayAfter(retry, entry.failures));

function retryAfter(agenda: Agenda, entry: Entry, error: unknown, delayMs: number): Acted {
  entry.failures += 1;
  return { _tag: 'Failed', contractId: entry.contract.contractId, error, retryAt: agenda.retry(entry, delayMs) };
}
