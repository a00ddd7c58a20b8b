import { concatMap, map, type Observable, of, timer } from 'rxjs';
import { RequestError, requestError } from '../errors.js';
import type { FaultCommitLate } from '../faults/submissionFaults.js';
import type { Answer, Call } from '../http/Call.js';
import { completeTransaction } from '../ledger/append.js';
import type { ReadContext } from '../ledger/visible.js';
import { changeIdOf, reportedOffset, type Submission } from '../participant/Completions.js';
import type { Participant } from '../participant/Participant.js';
import { clampTimer, formatMicros, makeUpdateId, parseMicros, sha256, trafficCost } from '../wire/values.js';
import type { WireTransaction } from '../wire/WireUpdate.js';
import { type Input, inputsOf } from './effects.js';
import { eventsOf } from './events.js';

/** The outcome of a submission. Only the first two have written a completion. */
export type Outcome =
  | { readonly committed: WireTransaction }
  | { readonly rejected: RequestError }
  /** The client gets this response, and the submission continues. */
  | { readonly lost: Answer };

/** What a submission needs of its request. */
type SubmissionCall = Pick<Call, 'participant' | 'fault' | 'timeoutAnswer'>;

/** Rejects a submission that confirming participants would reject. */
type CheckVerdict<S> = (submission: S, participant: Participant) => void;

/**
 * Registers an interpreted submission and commits or rejects it, after its confirmation or with the delay of its fault.
 *
 * @throws RequestError if the same change is in flight; then there is no completion
 */
export function submit<S extends Submission>(
  submission: S,
  call: SubmissionCall,
  check: CheckVerdict<S>,
): Observable<Outcome> {
  const { fault, participant } = call;
  if (fault?.kind !== 'commitLate' || fault.before !== 'registration') return register(submission, call, check);
  const { pending, ledger } = participant;
  // if it is not registered then, the client already has its response
  const late$ = timer(clampTimer(fault.ms), ledger.scheduler).pipe(
    concatMap(() => register(submission, { ...call, fault: undefined }, check)),
  );
  void pending.run(late$);
  return of(lost(fault, call));
}

function register<S extends Submission>(
  submission: S,
  call: SubmissionCall,
  check: CheckVerdict<S>,
): Observable<Outcome> {
  const { fault, participant } = call;
  const { pending, inbox } = participant;
  inbox.drain();
  const changeId = changeIdOf(submission);
  const earlier = pending.find(changeId);
  if (earlier !== undefined) throw inFlight(earlier, changeId);
  const rejected = rejectionOf(() => {
    participant.completions.checkDuplicate(submission, participant);
    if (fault?.kind === 'reject') throw requestError(fault.code, fault.cause ?? 'The sandbox rejects this submission');
    checkLocks(submission, participant);
    check(submission, participant);
  });
  if (rejected !== undefined) return of(reject(rejected, submission, participant));
  if (fault?.kind === 'commitLate') {
    void confirm(fault.ms, []);
    return of(lost(fault, call));
  }
  const consumed = inputsOf(submission.effects).flatMap(({ isConsumed, contractId }) => (isConsumed ? contractId : []));
  const { confirmationMs } = participant.settings;
  if (consumed.length === 0 || confirmationMs === 0) return of({ committed: commit(submission, participant) });
  return confirm(confirmationMs, consumed);

  /** Commits after a time, during which contracts are locked, unless the ledger has changed in the meantime. */
  function confirm(ms: number, contractIds: readonly string[]): Observable<Outcome> {
    const confirmed$ = pending.hold(changeId, submission, contractIds, ms).pipe(
      map((): Outcome => {
        inbox.drain();
        const lateRejection = rejectionOf(() => {
          check(submission, participant);
        });
        return lateRejection === undefined
          ? { committed: commit(submission, participant) }
          : reject(lateRejection, submission, participant);
      }),
    );
    return pending.run(confirmed$);
  }
}

/** Rejects a submission that uses a contract which another submission is about to archive. */
function checkLocks(submission: Submission, { pending }: Participant): void {
  const locked = inputsOf(submission.effects).find(({ contractId }) => pending.isLocked(contractId));
  if (locked === undefined) return;
  throw contractsError('LOCAL_VERDICT_LOCKED_CONTRACTS', 'locked', locked);
}

const contractsError = (code: string, how: string, { contractId }: Input): RequestError =>
  requestError(code, `Rejected transaction is referring to ${how} contracts`, {
    context: { CONTRACT_ID: `List(${contractId})` },
    resources: [['ErrorResource(CONTRACT_ID)', contractId]],
  });

function inFlight({ submissionId, synchronizerId }: Submission, changeId: string): RequestError {
  const existing = { existingSubmissionId: submissionId, existingSubmissionSynchronizerId: synchronizerId };
  return requestError('SUBMISSION_ALREADY_IN_FLIGHT', 'The submission is already in-flight', {
    context: { ...existing, changeId },
  });
}

const lost = ({ how }: FaultCommitLate, { timeoutAnswer }: SubmissionCall): Outcome => ({
  lost: { ...timeoutAnswer, lost: how === 'reset' },
});

/** Returns the error with which the checks reject a submission. */
function rejectionOf(check: () => void): RequestError | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (error instanceof RequestError) return error;
    throw error;
  }
}

/** Writes the completion of a rejected submission. It takes an offset, at which there is no update. */
function reject(error: RequestError, submission: Submission, participant: Participant): Outcome {
  if (typeof error.body === 'string') throw error;
  const { ledger, completions } = participant;
  const { synchronizerId, size } = submission;
  const { code, context } = error.body;
  const isDuplicate = code === 'DUPLICATE_COMMAND';
  const isSent = !isDuplicate && code !== 'INVALID_DEDUPLICATION_PERIOD';
  const earlierOffset = Number(context['completion_offset'] ?? 1) - 1;
  completions.add({
    submission,
    outcome: error.body,
    offset: ledger.end + 1,
    deduplicationOffset: isDuplicate ? earlierOffset : reportedOffset(submission.period),
    synchronizerId,
    recordTime: ledger.recordTimes.now(synchronizerId),
    paidTrafficCost: isSent ? trafficCost(size) : 0,
  });
  ledger.advance(1);
  return { rejected: error };
}

/** Commits a checked submission as the next update of the ledger, and writes its completion. */
function commit(submission: Submission, participant: Participant): WireTransaction {
  const { commandId, workflowId, actAs, synchronizerId, effects, trace, size, minLedgerTime = 0 } = submission;
  const { ledger, completions, models } = participant;
  const offset = ledger.end + 1;
  const recordTime = ledger.recordTimes.now(synchronizerId);
  const signedHash = submission.hash?.toString('hex');
  const hash = signedHash ?? sha256(changeIdOf(submission), submission.submissionId, ledger.commits, ...ledger.salt);
  const paidTrafficCost = trafficCost(size);
  const fields = {
    updateId: makeUpdateId(hash, offset, ...ledger.salt),
    commandId,
    workflowId,
    effectiveAt: formatMicros(Math.max(parseMicros(recordTime), minLedgerTime)),
    events: eventsOf(effects, offset, models),
    offset,
    synchronizerId,
    traceContext: trace.context,
    recordTime,
    externalTransactionHash: signedHash ?? null,
    paidTrafficCost,
    transactionHash: hash,
  };
  const transaction = completeTransaction(fields, participant);
  completions.add({
    submission,
    outcome: transaction.updateId,
    offset,
    deduplicationOffset: reportedOffset(submission.period),
    synchronizerId,
    recordTime,
    paidTrafficCost,
    hash: Buffer.from(hash, 'hex').toString('base64'),
  });
  participant.commit([{ update: { Transaction: { value: transaction } }, submitters: actAs }]);
  return transaction;
}

/** Rejects a ledger time that is too far ahead of the clock. */
export function checkLedgerTime({ minLedgerTime = 0 }: Submission, { settings, ledger }: ReadContext): void {
  if (minLedgerTime - ledger.now() * 1000 <= settings.ledgerTimeToleranceMs * 1000) return;
  const cause = `The ledger time ${formatMicros(minLedgerTime)} is too far from the record time`;
  throw requestError('LOCAL_VERDICT_LEDGER_TIME_OUT_OF_BOUND', cause);
}

/** Rejects a submission that uses a contract which is not active on the synchronizer. */
export function checkInputs(submission: Submission, { ledger: { contracts } }: Participant): void {
  const { synchronizerId } = submission;
  const inactive = inputsOf(submission.effects).find(
    ({ contractId }) => contracts.get(contractId)?.synchronizerId !== synchronizerId,
  );
  if (inactive !== undefined) throw contractsError('LOCAL_VERDICT_INACTIVE_CONTRACTS', 'inactive', inactive);
}
