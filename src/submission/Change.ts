import { asyncScheduler, concatMap, defer, type Observable, tap } from 'rxjs';
import type { SubmittedTransaction } from '../codecs/Transaction.js';
import { isLedgerError, type LedgerError } from '../errors/LedgerError.js';
import type { Submission } from '../errors/submission.js';
import type { Service } from '../feed/Service.js';
import { startAge } from '../http/clock.js';
import { type CompleteRetryPolicy, RetryBudget } from '../http/retry.js';
import { attempt } from './attempt.js';
import { Home } from './Home.js';
import type { LedgerStart, LedgerStarts, StartsOf } from './LedgerStart.js';
import type { Run, Strategy } from './Run.js';

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
  /** The submission ids of all attempts of this process. Only their completions are certain to be those of the change. */
  readonly submissionIds = new Set<string>();
  /** Absent until it is first sent. */
  #start: LedgerStart | undefined;
  #first: { readonly sentAt: number; readonly ageMs: () => number } | undefined;
  /** The participant to which it is sent. */
  readonly #home: Home;
  /** The number of subscriptions that send it. */
  #active = 0;
  /** The number of subscriptions that ended, and may have committed it. */
  #left = 0;

  /**
   * @param commandId - identifies the transaction when it is read back; `undefined` if only the signed bytes have it
   * @param given - the start, if an earlier process may have sent the change
   */
  constructor(
    service: Service,
    private readonly startsOf: StartsOf,
    readonly commandId: string | undefined,
    given?: LedgerStart,
  ) {
    this.#start = given;
    this.mayBeCommitted = given !== undefined;
    this.#home = new Home(service, () => {
      this.#start = undefined;
    });
  }

  /**
   * Submits the change, and determines its outcome.
   *
   * @param onEnd - called when the subscription ends without a transaction
   */
  submit(subscriber: Subscriber, onEnd: () => void = () => undefined): Observable<SubmittedTransaction> {
    let state: 'waiting' | 'sending' | 'ended' = 'waiting';
    const leave = (mayBeCommitted: boolean): void => {
      if (state === 'sending') this.#end(mayBeCommitted);
      if (state !== 'ended') onEnd();
      state = 'ended';
    };
    const submitAt = (located: Service): Observable<SubmittedTransaction> => {
      const starts = this.startsOf(located);
      return defer(() => (this.#start === undefined ? starts.start$ : [this.#start])).pipe(
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
            this.#checkStart(transaction, starts);
          },
          unsubscribe: () => {
            leave(true);
          },
          error: (error: unknown) => {
            if (!isLedgerError(error, 'SubmissionRejectedError')) starts.forget();
            leave(!isDecided(error));
          },
        }),
      );
    };
    const unsent = { ...subscriber.named, sentAt: asyncScheduler.now(), attempts: 0 };
    return this.#home.submit(subscriber.strategy.path, unsent, () => this.mayBeCommitted, submitAt);
  }

  #begin({ named, retry, strategy }: Subscriber, service: Service, starts: LedgerStarts, read: LedgerStart): Run {
    const { sentAt, ageMs } = (this.#first ??= { sentAt: asyncScheduler.now(), ageMs: startAge() });
    this.#active += 1;
    const left = this.#left;
    const beginAt = (start: LedgerStart): Run => ({
      service,
      change: this,
      start,
      submission: { ...named, sentAt, since: start.since },
      ageMs,
      retry,
      strategy,
      mayBeCommittedElsewhere: () => this.#active > 1 || this.#left > left,
      beginAt: (since) => {
        starts.prunedTo(since);
        this.#start = { ...start, since };
        return beginAt(this.#start);
      },
    });
    return beginAt((this.#start ??= read));
  }

  /** A commit that is not after the start shows that the start is of another ledger. */
  #checkStart({ offset, isRepeated }: SubmittedTransaction, starts: LedgerStarts): void {
    if (isRepeated === true || this.#start === undefined || offset > this.#start.since) return;
    starts.contradictedBy(offset);
    this.#start = { since: offset - 1 };
  }

  /** Records that a subscription ends. If it knows that nothing was committed, that includes those that ended before. */
  #end(mayBeCommitted: boolean): void {
    this.#active -= 1;
    this.mayBeCommitted = mayBeCommitted;
    if (mayBeCommitted) this.#left += 1;
  }
}

const isDecided = (error: unknown): error is LedgerError =>
  isLedgerError(error) && !isLedgerError(error, 'OutcomeUnknownError');
