import { defer, type Observable } from 'rxjs';
import { CommandsRequest } from '../codecs/SubmissionRequest.js';
import { Offset } from '../codecs/scalars.js';
import type { SubmittedTransaction } from '../codecs/Transaction.js';
import { InvalidRequestError } from '../errors/request.js';
import type { Service } from '../feed/Service.js';
import { validateRequest } from '../http/exchange.js';
import type { RetryPolicy } from '../http/retry.js';
import { reportOutcome } from './attempt.js';
import { Change } from './Change.js';
import { type ExecuteOptions, recoveryTimeMs, submissionRetry } from './execute.js';
import { hosted } from './hosted.js';
import type { StartsOf } from './LedgerStart.js';
import { submissionIdFor } from './ownership.js';
import { randomUuid } from './Run.js';

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
  startsOf: StartsOf,
  ledgerRetry: RetryPolicy | undefined,
): (request: CommandsRequest, options?: CommandsOptions) => Observable<SubmittedTransaction> {
  return (request, { since, recover = { withinMs: recoverWithinMs } } = {}) => {
    if (since !== undefined && !Offset.is(since)) throw new TypeError('since must be an offset');
    const retry = submissionRetry(ledgerRetry, recoveryTimeMs({ recover }));
    // JavaScript may pass no request: subscribing then fails
    const { commandId } = { ...request };
    const given = since === undefined ? undefined : { since, isGiven: true };
    const create = (id: string): Change => new Change(service, startsOf, id, given);
    const changes = new Changes(create, commandId ?? undefined);
    return defer(() => {
      const validated = validateCommands(request, since);
      const change = changes.take();
      const { userId, actAs } = validated;
      const submissionId = submissionIdFor(actAs);
      const named = { submissionId, commandId: change.commandId ?? '', userId: userId ?? '', actAs };
      return change
        .submit({ named, retry, strategy: hosted(validated) }, () => {
          changes.putBack(change);
        })
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
