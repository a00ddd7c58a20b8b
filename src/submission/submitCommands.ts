import { asyncScheduler, concatMap, defer, type Observable, tap } from 'rxjs';
import { CommandsRequest } from '../codecs/SubmissionRequest.js';
import { Offset } from '../codecs/scalars.js';
import type { SubmittedTransaction } from '../codecs/Transaction.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { InvalidRequestError } from '../errors/request.js';
import type { Service } from '../feed/Service.js';
import { startAge } from '../http/clock.js';
import { validateRequest } from '../http/exchange.js';
import { RetryBudget, retryPolicy, type RetryPolicy } from '../http/retry.js';
import { reportOutcome } from './attempt.js';
import { attemptCommands, commandsPath } from './attemptCommands.js';
import type { CommandSubmission } from './CommandSubmission.js';
import { type ExecuteOptions, maxRetryDelayMs, recoveryTimeMs } from './execute.js';
import { randomUuid } from './Execution.js';
import { Home } from './Home.js';
import { type LedgerStart, LedgerStarts } from './LedgerStart.js';

/**
 * Options for submitting commands of hosted parties.
 *
 * @category Submission
 */
export interface CommandsOptions extends Pick<ExecuteOptions, 'recover'> {
  /**
   * The ledger end before the first attempt, if an earlier process may have sent the same change: `submission.since` of its
   * `OutcomeUnknownError`, or `ledgerEnd()` that it stored before. The change is then found, and not repeated. The request must
   * have the same `commandId`, `actAs` and `userId` as then. Default: the subscriptions of this Observable are the first to
   * send the change.
   */
  readonly since?: Offset;
}

/** The default time to determine an outcome, in milliseconds: the ledger itself may take more than 2 minutes to decide. */
const recoverWithinMs = 240_000;

/** Returns the function that submits commands of hosted parties to a participant, and determines their outcome. */
export function commandSubmitter(
  service: Service,
  ledgerRetry: RetryPolicy | undefined,
): (request: CommandsRequest, options?: CommandsOptions) => Observable<SubmittedTransaction> {
  // those of one participant mean nothing at another one
  const allStarts = new Map<Service, LedgerStarts>();
  const startsOf = (located: Service): LedgerStarts => {
    const starts = allStarts.get(located) ?? new LedgerStarts(located);
    allStarts.set(located, starts);
    return starts;
  };
  const policy = retryPolicy(ledgerRetry);
  return (request, { since, recover = { withinMs: recoverWithinMs } } = {}) => {
    if (since !== undefined && !Offset.is(since)) throw new TypeError('since must be an offset');
    const maxDelayMs = Math.min(policy.maxDelayMs, maxRetryDelayMs);
    const retry = { ...policy, maxDelayMs, giveUpAfterMs: recoveryTimeMs({ recover }) };
    // JavaScript may pass no request: subscribing then fails
    const { commandId } = { ...request };
    const changes = new Changes(service, commandId ?? undefined, since);
    return defer(() => {
      const validated = validateCommands(request, since);
      const change = changes.take();
      const submissionId = randomUuid();
      let state: 'waiting' | 'sending' | 'ended' = 'waiting';
      const leave = (mayBeCommitted: boolean): void => {
        if (state === 'sending') change.end(mayBeCommitted);
        if (state !== 'ended') changes.putBack(change);
        state = 'ended';
      };
      const submitAt = (located: Service): Observable<SubmittedTransaction> => {
        const starts = startsOf(located);
        return defer(() => (change.start === undefined ? starts.start$ : [change.start])).pipe(
          concatMap((read) => {
            const start = change.begin(read);
            state = 'sending';
            const { commandId, sentAt = 0, sinceSentMs } = change;
            const mayBeCommittedElsewhere = change.watchOthers();
            const beginAt = ({ since, ...ledger }: LedgerStart): CommandSubmission => ({
              service: located,
              request: validated,
              commandId,
              submission: { submissionId, commandId, userId: userId ?? '', actAs, sentAt, since },
              submissionIds: change.submissionIds,
              sinceSentMs,
              start: { ...ledger, since },
              retry,
              mayBeCommittedElsewhere,
              beginAt: (later) => {
                starts.prunedTo(later);
                change.start = { ...ledger, since: later };
                return beginAt(change.start);
              },
            });
            const budget = new RetryBudget(retry);
            return attemptCommands(beginAt(start), { sent: 0, isOpen: change.mayBeCommitted, limited: 0, budget });
          }),
          tap({
            next: ({ offset, isRepeated = false }) => {
              state = 'ended';
              change.end(true);
              if (isRepeated || change.start === undefined || offset > change.start.since) return;
              starts.contradictedBy(offset);
              change.start = { since: offset - 1 };
            },
            unsubscribe: () => {
              leave(true);
            },
            error: (error: unknown) => {
              if (!isLedgerError(error, 'SubmissionRejectedError')) starts.forget();
              leave(!isLedgerError(error) || isLedgerError(error, 'OutcomeUnknownError'));
            },
          }),
        );
      };
      const { userId, actAs } = validated;
      const unsent = { submissionId, userId: userId ?? '', actAs, sentAt: asyncScheduler.now(), attempts: 0 };
      return change.home
        .submit(commandsPath, unsent, () => change.mayBeCommitted, submitAt)
        .pipe(reportOutcome(service.link, submissionId));
    });
  };
}

/** Validates the request of commands. Throws an {@link InvalidRequestError}. */
export function validateCommands(request: CommandsRequest, since: Offset | undefined): CommandsRequest {
  const validated = validateRequest(CommandsRequest, request);
  if (validated.minLedgerTimeAbs != null && validated.minLedgerTimeRel != null)
    throw new InvalidRequestError([{ path: 'minLedgerTimeRel', expected: 'not together with minLedgerTimeAbs' }]);
  if (since !== undefined && validated.commandId == null)
    throw new InvalidRequestError([
      { path: 'commandId', expected: 'that of the first attempt, because since is given' },
    ]);
  return validated;
}

/** What the subscriptions of one change share. */
class Change {
  /** Absent until the change is first sent. */
  start: LedgerStart | undefined;
  /** When the change was first sent, in milliseconds, by this process. */
  sentAt: number | undefined;
  /** Returns the time since then, in milliseconds. */
  sinceSentMs: (() => number) | undefined;
  /** The submission ids of all attempts of this process. */
  readonly submissionIds = new Set<string>();
  /** The participant to which it is sent. */
  readonly home: Home;
  /** The number of subscriptions that send it. */
  #active = 0;
  /** The number of subscriptions that ended, and may have committed it. */
  #left = 0;

  /** @param mayBeCommitted - whether a subscription that has ended, or an earlier process, may have committed it */
  constructor(
    service: Service,
    readonly commandId: string,
    public mayBeCommitted = false,
  ) {
    this.home = new Home(service, () => {
      this.start = undefined;
    });
  }

  /** Records that a subscription sends the change. Returns the start that all subscriptions share. */
  begin(start: LedgerStart): LedgerStart {
    this.sentAt ??= asyncScheduler.now();
    this.sinceSentMs ??= startAge();
    this.start ??= start;
    this.#active += 1;
    return this.start;
  }

  /** Returns whether another subscription may commit the change, or may have done so after this call. */
  watchOthers(): () => boolean {
    const left = this.#left;
    return () => this.#active > 1 || this.#left > left;
  }

  /** Records that a subscription ends. If it knows that nothing was committed, that includes those that ended before. */
  end(mayBeCommitted: boolean): void {
    this.#active -= 1;
    this.mayBeCommitted = mayBeCommitted;
    if (mayBeCommitted) this.#left += 1;
  }
}

/** The changes of one Observable: a single one for a given command id, otherwise one for each subscription. */
class Changes {
  readonly #named: Change | undefined;
  /** Changes of random command ids that no subscription sends, and that may be committed. The next subscription takes one. */
  #open: readonly Change[] = [];

  constructor(
    private readonly service: Service,
    commandId: string | undefined,
    since: Offset | undefined,
  ) {
    if (commandId === undefined) return;
    this.#named = new Change(service, commandId, since !== undefined);
    if (since !== undefined) this.#named.start = { since, isGiven: true };
  }

  /** The change for a new subscription. */
  take(): Change {
    if (this.#named !== undefined) return this.#named;
    const [change = new Change(this.service, randomUuid()), ...others] = this.#open;
    this.#open = others;
    return change;
  }

  /** A subscription ends without a transaction: the next one continues the change if it may be committed. */
  putBack(change: Change): void {
    if (change.mayBeCommitted && change !== this.#named) this.#open = [...this.#open, change];
  }
}
