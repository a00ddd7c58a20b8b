import {
  asyncScheduler,
  concatMap,
  defer,
  finalize,
  map,
  type MonoTypeOperatorFunction,
  type Observable,
  of,
  pipe,
  tap,
} from 'rxjs';
import type { SubmittedTransaction } from '../codecs/Transaction.js';
import { isLedgerError, type LedgerError, OutcomeUnknownError } from '../errors/LedgerError.js';
import { NotSentError, type Submission } from '../errors/submission.js';
import type { Client } from '../client/Client.js';
import type { Report } from '../diagnostics/Diagnostic.js';
import { startAge } from '../http/clock.js';
import { type CompleteRetryPolicy, mapError, RetryBudget } from '../http/retry.js';
import { bareOffset, type LedgerPosition } from '../codecs/LedgerPosition.js';
import { seenParticipantId } from '../history/participant.js';
import { attempt } from './attempt.js';
import { type LedgerStart, replacement } from './LedgerStart.js';
import type { LedgerStarts, StartsOf } from './LedgerStarts.js';
import type { Run, Strategy } from './Run.js';
import { submissionReport } from './submitter.js';

/** A subscription that submits a change. */
interface Subscriber {
  /** The submission as errors show it, before it is sent. */
  readonly named: Omit<Submission, 'sentAt' | 'since' | 'attempts'>;
  /** The retry policy; `giveUpAfterMs` is 0 for a single attempt. */
  readonly retry: CompleteRetryPolicy;
  readonly strategy: Strategy;
}

/**
 * What is submitted: signed bytes, or commands with a command id. All subscriptions share the start of the change and what is
 * known of its attempts. Therefore, the ledger commits it once, however often it is sent, and a subscription does not report
 * a rejection if another may have committed it.
 */
export class Change {
  /** Whether a subscription that has ended, or an earlier process, may have committed it. */
  mayBeCommitted: boolean;
  /** The submission ids of all attempts of this process. Their completions are certain to be those of the change. */
  readonly submissionIds = new Set<string>();
  /** The user whose token the attempts have; `undefined` if that is not known. */
  user: string | undefined;
  /** The participant to which commands are sent, if it is known. Their attempts stay there. */
  participantId: string | undefined;
  /** Absent until it is first sent. */
  #start: LedgerStart | undefined;
  #first: { readonly sentAt: number; readonly ageMs: () => number } | undefined;
  /** The address of the participant to which it is sent, once that is known. */
  #home: string | undefined;
  /** The number of subscriptions. */
  #subscriptions = 0;
  /** The number of subscriptions that send it. */
  #active = 0;
  /** The number of subscriptions that send nothing more. */
  #resting = 0;
  /** The number of subscriptions that ended, and may have committed it. */
  #left = 0;

  /**
   * @param commandId - identifies the transaction when it is read back; `undefined` if only the signed bytes have it
   * @param given - the start, if an earlier process may have sent the change
   */
  constructor(
    private readonly startsOf: StartsOf,
    readonly commandId: string | undefined,
    given?: LedgerStart,
  ) {
    this.#start = given;
    this.mayBeCommitted = given !== undefined;
  }

  /**
   * Submits the change, and determines its outcome.
   *
   * @param client - sends the requests of this subscription
   * @param onEnd - called when the subscription ends without a transaction
   */
  submit(
    client: Client,
    subscriber: Subscriber,
    onEnd: () => void = () => undefined,
  ): Observable<SubmittedTransaction> {
    const report = submissionReport(client, this.commandId);
    let state: 'waiting' | 'sending' | 'ended' = 'waiting';
    const leave = (mayBeCommitted: boolean): void => {
      if (state === 'sending') this.#end(mayBeCommitted);
      if (state !== 'ended') onEnd();
      state = 'ended';
    };
    const submitAt = (located: Client): Observable<SubmittedTransaction> => {
      const { named, strategy } = subscriber;
      // the ledger finds signed bytes by their hash
      const starts = this.startsOf(located, strategy.kind === 'hosted' ? named.actAs : []);
      const read$ = starts
        .read(located)
        .pipe(
          mapError((error) =>
            isLedgerError(error, 'LedgerResetError') ? this.#unsent(subscriber, error, replacement(error)) : error,
          ),
        );
      return defer(() => (this.#start === undefined ? read$ : [this.#start])).pipe(
        concatMap((start) => {
          state = 'sending';
          const run = this.#begin(subscriber, located, starts, start);
          return attempt(run, {
            sent: 0,
            isOpen: this.mayBeCommitted,
            limited: 0,
            budget: new RetryBudget(subscriber.retry),
          });
        }),
        tap({
          next: (transaction) => {
            state = 'ended';
            this.#end(true);
            this.#checkStart(transaction, starts, located);
          },
          unsubscribe: () => {
            this.#keepStart(starts);
            leave(true);
          },
          error: (error: unknown) => {
            if (!isLedgerError(error, 'SubmissionRejectedError')) starts.forget();
            if (!isDecided(error)) this.#keepStart(starts);
            leave(!isDecided(error));
          },
        }),
      );
    };
    return defer(() => {
      this.#subscriptions += 1;
      return this.#locate(client, subscriber).pipe(
        concatMap(submitAt),
        finalize(() => {
          this.#subscriptions -= 1;
        }),
        reportOutcome(report, subscriber.named.submissionId),
      );
    });
  }

  /**
   * Emits the participant to which the change is sent, if the ledger has several addresses. It stays the same as long as an
   * attempt may have been committed: another participant knows neither the offsets of the first one nor its deduplication, so
   * that the same change sent there could be committed a second time.
   */
  #locate(client: Client, subscriber: Subscriber): Observable<Client> {
    // another subscription may be sending it there
    const home = (): string | undefined => (this.#subscriptions > 1 || this.mayBeCommitted ? this.#home : undefined);
    const present = home();
    if (present !== undefined) return of(client.at(present));
    return client.located(subscriber.strategy.path).pipe(
      mapError((error) =>
        isLedgerError(error, 'ConnectionError') ? this.#unsent(subscriber, error, error.reason) : error,
      ),
      map((located) => {
        const chosen = home() ?? located.address ?? '';
        if (this.#home !== undefined && this.#home !== chosen) this.#start = undefined;
        this.#home = chosen;
        return client.at(chosen);
      }),
    );
  }

  /** The error of a subscription that sends nothing. An earlier process, or another subscription, may have committed the change. */
  #unsent({ named }: Subscriber, error: LedgerError, reason: string): LedgerError {
    const since = this.#start && { since: this.#start.offset };
    const submission: Submission = { ...named, ...since, sentAt: asyncScheduler.now(), attempts: 0 };
    return this.mayBeCommitted || this.#active > 0
      ? new OutcomeUnknownError(submission, error)
      : new NotSentError(reason, submission);
  }

  #begin({ named, retry, strategy }: Subscriber, client: Client, starts: LedgerStarts, read: LedgerStart): Run {
    const { sentAt, ageMs } = (this.#first ??= { sentAt: asyncScheduler.now(), ageMs: startAge() });
    if (this.#active === 0 && !this.mayBeCommitted) this.participantId = undefined;
    if (strategy.kind === 'hosted')
      this.participantId ??= read.participantId ?? (read.isGiven === true ? seenParticipantId(client) : undefined);
    this.#active += 1;
    const left = this.#left;
    const beginAt = (start: LedgerStart): Run => ({
      client,
      change: this,
      report: submissionReport(client, this.commandId),
      start,
      submission: { ...named, sentAt, since: start.offset, ...(strategy.kind === 'hosted' && positionOf(start)) },
      ageMs,
      retry,
      strategy,
      mayBeCommittedElsewhere: () => this.#active > 1 || this.#left > left,
      rest: () => {
        let sent = this.submissionIds.size;
        this.#resting += 1;
        return {
          isSentElsewhere: () => {
            const before = sent;
            sent = this.submissionIds.size;
            return sent > before || this.#subscriptions > this.#resting;
          },
          end: () => {
            this.#resting -= 1;
          },
        };
      },
      beginAt: (offset) => {
        starts.prunedTo(offset);
        this.#start = { ...start, offset };
        return beginAt(this.#start);
      },
    });
    return beginAt((this.#start ??= read));
  }

  /** A commit that is not after the start shows that the start is of another ledger. */
  #checkStart(transaction: SubmittedTransaction, starts: LedgerStarts, client: Client): void {
    const { offset } = transaction;
    if (this.#start === undefined || offset > this.#start.offset) {
      starts.precede(offset);
      starts.committed(transaction);
      return;
    }
    starts.contradictedBy(offset, client);
    this.#start = bareOffset(offset - 1);
    this.participantId = undefined;
  }

  /** A start that was given or not read is before a commit that may still follow: later calls begin there, too. */
  #keepStart(starts: LedgerStarts): void {
    const { offset, isGiven = false, isUnread = false }: LedgerStart = this.#start ?? bareOffset(0);
    if (isGiven || isUnread) starts.precede(offset + 1);
  }

  /** Records that a subscription ends. If it knows that nothing was committed, that includes those that ended before. */
  #end(mayBeCommitted: boolean): void {
    this.#active -= 1;
    this.mayBeCommitted = mayBeCommitted;
    if (mayBeCommitted) this.#left += 1;
    // the next subscription begins where the ledger is then
    else if (this.#active === 0 && this.#start?.isGiven !== true) this.#start = undefined;
  }
}

/** The position that errors show. One that could not be read shows nothing. */
function positionOf(start: LedgerStart): { readonly position?: LedgerPosition } {
  if (start.isUnread === true) return {};
  const { offset, participantId, lastUpdate, recordTimes } = start.latest ?? start;
  return { position: { offset, participantId, lastUpdate, recordTimes } };
}

const isDecided = (error: unknown): error is LedgerError =>
  isLedgerError(error) && !isLedgerError(error, 'OutcomeUnknownError');

/** Reports the outcome of a submission. */
const reportOutcome = (report: Report, submissionId: string): MonoTypeOperatorFunction<SubmittedTransaction> =>
  pipe(
    tap(({ updateId, offset, isRepeated }) => {
      report(() => ({
        _tag: 'SubmissionCommitted',
        submissionId,
        updateId,
        offset,
        ...(isRepeated && { isRepeated }),
      }));
    }),
    reportFailure(report, submissionId),
  );

/** Reports that a submission failed. */
export const reportFailure = <A>(report: Report, submissionId: string): MonoTypeOperatorFunction<A> =>
  tap({
    error: (error: unknown) => {
      report(() => ({ _tag: 'SubmissionFailed', submissionId, ...(isLedgerError(error) && { error }) }));
    },
  });
