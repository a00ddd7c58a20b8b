import type { CommandsRequest, DisclosedContract } from '../codecs/SubmissionRequest.js';
import type { DeduplicationPeriod } from '../codecs/ExecuteRequest.js';
import type { Offset } from '../codecs/scalars.js';
import type { Submission } from '../errors/submission.js';
import { attemptMs, deduplicationPeriod, sinceFirstAttempt } from './deduplication.js';
import { randomUuid } from './Execution.js';
import type { LedgerStart } from './LedgerStart.js';
import type { Committed } from './readCommitted.js';

/** The data that all attempts to submit the commands of one subscription share. */
export interface CommandSubmission extends Committed {
  /** The validated request. */
  readonly request: CommandsRequest;
  readonly commandId: string;
  readonly submission: Omit<Submission, 'attempts'>;
  /** Returns the time since the first attempt, in milliseconds. */
  readonly sinceSentMs?: (() => number) | undefined;
  readonly start: LedgerStart;
  /** The submission ids of the attempts of this process. Only their completions are certain to be those of the change. */
  readonly submissionIds: Set<string>;
  /** Whether another subscription may commit the change, or has since this one began. */
  readonly mayBeCommittedElsewhere: () => boolean;
  /** Returns the same with a later start, because the participant has pruned the present one. */
  readonly beginAt: (since: Offset) => CommandSubmission;
}

/** What differs between the attempts. */
export interface Attempt {
  /** The number of the attempt, from 1. */
  readonly number: number;
  /** Whether an earlier attempt may have been committed. */
  readonly isResent: boolean;
  /** Contracts that an earlier attempt may have archived. Without them, the participant would not get to the duplicate. */
  readonly disclosed: readonly DisclosedContract[];
}

/**
 * Creates the body of an attempt. All attempts have the same command id and a deduplication period that covers the first
 * one. Each has its own submission id. The participant's default period is never used: it can be as short as 30 seconds.
 */
export function commandsBody(submission: CommandSubmission, { number, isResent, disclosed }: Attempt): object {
  const { commandId, submissionIds } = submission;
  const submissionId = number === 1 ? submission.submission.submissionId : randomUuid();
  submissionIds.add(submissionId);
  const { transactionFormat, disclosedContracts, ...request } = submission.request;
  const known = disclosedContracts ?? [];
  const added = disclosed.filter(({ contractId }) => known.every((contract) => contract.contractId !== contractId));
  return {
    commands: {
      ...request,
      commandId,
      submissionId,
      deduplicationPeriod: periodOf(submission, number > 1 || isResent),
      disclosedContracts: [...known, ...added],
    },
    ...(usesFormat(submission.request, isResent) && { transactionFormat }),
  };
}

/**
 * Whether an attempt requests the caller's format. If it has names that the participant does not know, the error is the same
 * before and after the commit, so that a resent attempt could never be decided.
 */
export const usesFormat = (request: CommandsRequest, isResent: boolean): boolean =>
  request.transactionFormat != null && !(isResent && hasNames(request));

/** Whether the format of the transaction has names of templates, interfaces or packages. */
export const hasNames = ({ transactionFormat }: CommandsRequest): boolean =>
  /"(TemplateFilter|InterfaceFilter)"/.test(JSON.stringify(transactionFormat ?? {}));

/** The caller's period, extended to the start of the change. If the caller names the start, no duration is needed to reach it. */
function periodOf(
  { request, start, submission, sinceSentMs, service, retry }: CommandSubmission,
  isLater: boolean,
): DeduplicationPeriod {
  const { deduplicationPeriod: requested } = request;
  const { since, isGiven = false } = start;
  // no earlier attempt was before the start
  const isSinceStart = requested == null || 'Empty' in requested || (isGiven && 'DeduplicationDuration' in requested);
  return deduplicationPeriod({
    requested: isSinceStart ? { DeduplicationOffset: { value: since } } : requested,
    since,
    isLater,
    elapsedMs: sinceFirstAttempt(submission.sentAt, sinceSentMs),
    // without a later attempt, nothing can be committed before this one is checked
    attemptMs: retry.giveUpAfterMs > 0 || isLater ? heldMs(request) + attemptMs(service.link.requestTimeoutMs) : 0,
  });
}

/** How long the participant may hold an attempt before it checks for duplicates, in milliseconds: until its earliest ledger time. */
const heldMs = ({ minLedgerTimeAbs, minLedgerTimeRel }: CommandsRequest): number =>
  Math.max(
    0,
    (minLedgerTimeRel?.seconds ?? 0) * 1_000,
    minLedgerTimeAbs == null ? 0 : Date.parse(minLedgerTimeAbs) - Date.now(),
  );
