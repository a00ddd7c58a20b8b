import { concat, of } from 'rxjs';
import type { Command } from '../codecs/Command.js';
import type { DeduplicationPeriod } from '../codecs/ExecuteRequest.js';
import type { CommandsRequest } from '../codecs/SubmissionRequest.js';
import { readContracts } from './usedContracts.js';
import { attemptMs, deduplicationPeriod, isLongest } from './deduplication.js';
import { proveStart } from './LedgerStart.js';
import { submissionIdFor } from './ownership.js';
import { readTransaction } from './readCommitted.js';
import { type AttemptKey, type HeldTimes, type Run, type Strategy } from './Run.js';

/** The path that submits commands. */
const path = '/v2/commands/submit-and-wait-for-transaction';

/**
 * Submits commands of parties whose keys the participant has. The change is identified by the command id, the user and the
 * parties, which its updates do not all show. Its completions do.
 */
export const hosted = (request: CommandsRequest): Strategy => ({
  kind: 'hosted',
  path,
  format: request.transactionFormat,
  readAs: request.readAs ?? [],
  held: request,
  hasNames: hasNames(request),
  isPeriodOpen: isLongest(request.deduplicationPeriod),
  isSinceStart: !('DeduplicationDuration' in (request.deduplicationPeriod ?? {})),
  canSettle: true,
  body: (run, attempt) => commandsBody(request, run, attempt),
  // what an earlier attempt may have archived is disclosed
  prepareResend: (run) => concat(proveStart(run.service, run.start), readContracts(run, contractIdsOf(request))),
  lookUp: () => of(),
  finish: (run, named, isResent, transaction, withinMs) =>
    request.transactionFormat == null || usesFormat(request, isResent)
      ? of(transaction)
      : readTransaction(run, named, transaction.offset, withinMs),
  inputs: () => contractIdsOf(request),
  isCandidate: ({ change }, update) => update._tag === 'Transaction' && update.commandId === change.commandId,
  // a random command id is unique
  isCertain: request.commandId == null,
});

const contractIdsOf = ({ commands }: CommandsRequest): readonly string[] => [
  ...new Set(
    commands.flatMap((command: Command) => ('ExerciseCommand' in command ? [command.ExerciseCommand.contractId] : [])),
  ),
];

/**
 * Creates the body of an attempt. All attempts have the same command id and a deduplication period that covers the first
 * one. Each has its own submission id.
 */
function commandsBody(request: CommandsRequest, run: Run, { number, isResent, disclosed }: AttemptKey): object {
  const { commandId, submissionIds } = run.change;
  const submissionId = number === 1 ? run.submission.submissionId : submissionIdFor(request.actAs);
  submissionIds.add(submissionId);
  const { transactionFormat, disclosedContracts, ...rest } = request;
  const known = disclosedContracts ?? [];
  const added = disclosed.filter(({ contractId }) => known.every((contract) => contract.contractId !== contractId));
  return {
    commands: {
      ...rest,
      commandId,
      submissionId,
      deduplicationPeriod: periodOf(request, run, number > 1 || isResent),
      disclosedContracts: [...known, ...added],
    },
    ...(usesFormat(request, isResent) && { transactionFormat }),
  };
}

/**
 * Whether an attempt requests the caller's format. If it has names that the participant does not know, the error is the same
 * before and after the commit, so that a resent attempt could never be decided.
 */
const usesFormat = (request: CommandsRequest, isResent: boolean): boolean =>
  request.transactionFormat != null && !(isResent && hasNames(request));

/** Whether the format of the transaction has names of templates, interfaces or packages. */
const hasNames = ({ transactionFormat }: CommandsRequest): boolean =>
  /"(TemplateFilter|InterfaceFilter)"/.test(JSON.stringify(transactionFormat ?? {}));

/** The caller's period, extended to the start of the change. If the caller names the start, no duration is needed to reach it. */
function periodOf(request: CommandsRequest, run: Run, isLater: boolean): DeduplicationPeriod {
  const { deduplicationPeriod: requested } = request;
  const { start, service } = run;
  const { since, isGiven = false } = start;
  // no earlier attempt was before the start
  const isSinceStart = requested == null || 'Empty' in requested || (isGiven && 'DeduplicationDuration' in requested);
  return deduplicationPeriod({
    requested: isSinceStart ? { DeduplicationOffset: { value: since } } : requested,
    since,
    isLater,
    ageMs: run.ageMs(),
    // also without recovery: another subscription, call or process may commit the change before this attempt is checked
    attemptMs: heldMs(request) + attemptMs(service.link.requestTimeoutMs),
  });
}

/** How long the participant may hold an attempt before it checks for duplicates, in milliseconds: until its earliest ledger time. */
const heldMs = ({ minLedgerTimeAbs, minLedgerTimeRel }: HeldTimes): number =>
  Math.max(
    0,
    (minLedgerTimeRel?.seconds ?? 0) * 1_000,
    minLedgerTimeAbs == null ? 0 : Date.parse(minLedgerTimeAbs) - Date.now(),
  );
