import { defer, type Observable, of } from 'rxjs';
import type { DeduplicationPeriod } from '../codecs/ExecuteRequest.js';
import { submissionIdOf } from '../codecs/internal/submissionId.js';
import { CommandsRequest } from '../codecs/SubmissionRequest.js';
import { Offset } from '../codecs/scalars.js';
import type { SubmittedTransaction } from '../codecs/Transaction.js';
import { InvalidRequestError } from '../errors/request.js';
import { bareOffset, LedgerPosition } from '../codecs/LedgerPosition.js';
import type { Client } from '../client/Client.js';
import { validateRequest } from '../client/exchange.js';
import type { RetryPolicy } from '../http/retry.js';
import { Change } from './Change.js';
import { attemptMs, deduplicationPeriod, isLongest } from './deduplication.js';
import { type ExecuteOptions, recoveryTimeMs, submissionRetry } from './execute.js';
import { findBeforeResend } from './findBeforeResend.js';
import type { LedgerStart } from './LedgerStart.js';
import type { StartsOf } from './LedgerStarts.js';
import { readTransaction } from './readCommitted.js';
import { type AttemptKey, type HeldTimes, nextId, randomUuid, type Run, type Strategy } from './Run.js';
import { keepRequest } from './send.js';

/**
 * Options for submitting commands of hosted parties.
 *
 * @category Submission
 */
export interface CommandsOptions extends Pick<ExecuteOptions, 'recover'> {
  /**
   * Where the ledger was before the first attempt, if an earlier process may have sent the same change: `submission.since` of its
   * `OutcomeUnknownError`, or `ledgerEnd()` that it stored before. The change is then found, and not repeated. The request must
   * have the same `commandId`, `actAs` and `userId` as then. A position, `submission.position` of the error, also shows whether the
   * ledger was replaced or restored meanwhile. Default: the subscriptions of this Observable are the first to send the change.
   */
  readonly since?: Offset | LedgerPosition;
}

/** The default time to determine an outcome, in milliseconds: the ledger itself may take more than 2 minutes to decide. */
const recoverWithinMs = 240_000;

/** Returns the function that submits commands of hosted parties, and determines their outcome. */
export function commandSubmitter(
  startsOf: StartsOf,
  ledgerRetry: RetryPolicy | undefined,
): (request: CommandsRequest, options?: CommandsOptions) => (client: Client) => Observable<SubmittedTransaction> {
  return (request, { since, recover = { withinMs: recoverWithinMs } } = {}) => {
    if (since !== undefined && !Offset.is(since) && !LedgerPosition.is(since))
      throw new TypeError('since must be an offset or a position');
    const retry = submissionRetry(ledgerRetry, recoveryTimeMs({ recover }));
    // JavaScript may pass no request: subscribing then fails
    const { commandId } = { ...request };
    const given = since === undefined ? undefined : startOf(since);
    const create = (id: string): Change => new Change(startsOf, id, given);
    const changes = new Changes(create, commandId ?? undefined);
    const kept = keepRequest(() => validateCommands(request, since));
    return (client) =>
      defer(() => {
        const validated = kept();
        const change = changes.take();
        const { userId, actAs } = validated;
        const submissionId = submissionIdOf(actAs, randomUuid());
        const named = { submissionId, commandId: change.commandId ?? '', userId: userId ?? '', actAs };
        return change.submit(client, { named, retry, strategy: hosted(validated) }, () => {
          changes.putBack(change);
        });
      });
  };
}

/** The start that a caller names. */
const startOf = (since: Offset | LedgerPosition): LedgerStart =>
  typeof since === 'number' ? { ...bareOffset(since), isGiven: true, isBare: true } : { ...since, isGiven: true };

/** Validates the request of commands. Throws an {@link InvalidRequestError}. */
export function validateCommands(request: CommandsRequest, since: CommandsOptions['since']): CommandsRequest {
  const validated = validateRequest(CommandsRequest, request);
  if (validated.minLedgerTimeAbs != null && validated.minLedgerTimeRel != null)
    throw new InvalidRequestError([{ path: 'minLedgerTimeRel', expected: 'not together with minLedgerTimeAbs' }]);
  if (since !== undefined && validated.commandId == null)
    throw new InvalidRequestError([
      { path: 'commandId', expected: 'that of the first attempt, because since is given' },
    ]);
  return validated;
}

/** The changes of one Observable: a single one for a given command id, otherwise one for each subscription. */
class Changes {
  readonly #named: Change | undefined;
  /** Changes of random command ids that no subscription sends, and that may be committed. The next subscription takes one. */
  #open: readonly Change[] = [];

  constructor(
    private readonly create: (commandId: string) => Change,
    commandId: string | undefined,
  ) {
    if (commandId !== undefined) this.#named = create(commandId);
  }

  /** The change for a new subscription. */
  take(): Change {
    if (this.#named !== undefined) return this.#named;
    const [change = this.create(randomUuid()), ...others] = this.#open;
    this.#open = others;
    return change;
  }

  /** A subscription ends without a transaction: the next one continues the change if it may be committed. */
  putBack(change: Change): void {
    if (change.mayBeCommitted && change !== this.#named) this.#open = [...this.#open, change];
  }
}

/** The path that submits commands. */
const path = '/v2/commands/submit-and-wait-for-transaction';

/**
 * Submits commands of parties whose keys the participant has. The change is identified by the command id, the user and the
 * parties, which its updates do not all show. Its completions do.
 */
const hosted = (request: CommandsRequest): Strategy => ({
  kind: 'hosted',
  path,
  format: request.transactionFormat,
  readAs: request.readAs ?? [],
  held: request,
  hasNames: hasNames(request),
  isPeriodOpen: isLongest(request.deduplicationPeriod),
  isSinceStart: !('DeduplicationDuration' in (request.deduplicationPeriod ?? {})),
  reachMs: certainReachMs(request.deduplicationPeriod),
  canSettle: true,
  body: (run, attempt) => commandsBody(request, run, attempt),
  // what an earlier attempt may have archived is disclosed
  prepareResend: (run) => findBeforeResend(run, contractIdsOf(request)),
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

/** The duration of a period from which clocks no longer matter, in seconds. */
const longSeconds = 12 * 3_600;

/** Half of a long duration: clocks are not that far apart. */
function certainReachMs(period: DeduplicationPeriod | null | undefined): number {
  if (period == null || !('DeduplicationDuration' in period)) return -Infinity;
  const { seconds } = period.DeduplicationDuration.value;
  return seconds < longSeconds ? -Infinity : seconds * 500;
}

const contractIdsOf = ({ commands }: CommandsRequest): readonly string[] => [
  ...new Set(commands.flatMap((command) => ('ExerciseCommand' in command ? [command.ExerciseCommand.contractId] : []))),
];

/** Creates the body of an attempt. All have the same command id and a deduplication period that covers the first one. */
function commandsBody(request: CommandsRequest, run: Run, { isResent, disclosed }: AttemptKey): object {
  const { submissionId, isLater } = nextId(run, () => submissionIdOf(request.actAs, randomUuid()));
  const { transactionFormat, disclosedContracts, ...rest } = request;
  const known = disclosedContracts ?? [];
  const added = disclosed.filter(({ contractId, createdEventBlob }) =>
    known.every((one) => one.contractId !== contractId && one.createdEventBlob !== createdEventBlob),
  );
  return {
    commands: {
      ...rest,
      commandId: run.change.commandId,
      submissionId,
      deduplicationPeriod: periodOf(request, run, isLater),
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
  const { start, client } = run;
  const { offset, isGiven = false } = start;
  // no earlier attempt was before the start
  const isSinceStart = requested == null || 'Empty' in requested || (isGiven && 'DeduplicationDuration' in requested);
  return deduplicationPeriod({
    requested: isSinceStart ? { DeduplicationOffset: { value: offset } } : requested,
    since: offset,
    isLater,
    ageMs: run.ageMs(),
    // also without recovery: another subscription, call or process may commit the change before this attempt is checked
    attemptMs: heldMs(request) + attemptMs(client.requestTimeoutMs),
  });
}

/** How long the participant may hold an attempt before it checks for duplicates, in milliseconds: until its earliest ledger time. */
const heldMs = ({ minLedgerTimeAbs, minLedgerTimeRel }: HeldTimes): number =>
  Math.max(
    0,
    (minLedgerTimeRel?.seconds ?? 0) * 1_000,
    minLedgerTimeAbs == null ? 0 : Date.parse(minLedgerTimeAbs) - Date.now(),
  );
