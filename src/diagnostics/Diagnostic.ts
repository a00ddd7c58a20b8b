import { asyncScheduler, type Subject } from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import type { FeedDiagnostic } from './FeedDiagnostic.js';
import type { SubmissionDiagnostic } from './SubmissionDiagnostic.js';

/**
 * What a ledger is doing, for logs, metrics and progress displays. A closed union: `_tag` tells what happened, and a
 * `switch` over it is complete. Holds no token, signature or payload.
 *
 * @example
 * ```ts
 * import { createLedger, type Diagnostic } from 'canton-rx';
 *
 * const line = (event: Diagnostic): string => {
 *   switch (event._tag) {
 *     case 'RetryScheduled':
 *       return `${event.cause.name}; again in ${event.delayMs} ms`;
 *     case 'FellBehind':
 *       return `${event.lag ?? '?'} offsets behind`;
 *     default:
 *       return event._tag;
 *   }
 * };
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575' });
 * const logging = ledger.events$.subscribe((event) => {
 *   console.log(new Date(event.at).toISOString(), event.feed, line(event));
 * });
 * logging.unsubscribe();
 * ```
 */
export type Diagnostic = DiagnosticBody & {
  /** When it happened, in milliseconds since the epoch, by this machine's clock. */
  readonly at: number;
  /** The feed to which it happened: 1 for the first that the ledger started. Absent for what belongs to none. */
  readonly feed?: number;
};

/** What happens to a ledger, its feeds and its submissions, without when and to which. */
export type DiagnosticBody = FeedDiagnostic | ProcessDiagnostic | SubmissionDiagnostic | TokenRefreshed;

/** The service refused a token, and the provider had another. */
export interface TokenRefreshed {
  /** Tells the events apart. */
  readonly _tag: 'TokenRefreshed';
  /** The path of the request that was refused. */
  readonly path: string;
}

/** Tells what happens. What is told is made only if somebody listens. */
export type Report = (happening: () => DiagnosticBody) => void;

/** Those who listen to a ledger's events: what of a Subject is needed to tell them. */
export type Listeners = Pick<Subject<Diagnostic>, 'observed' | 'next' | 'asObservable'>;

/** What happens to a processor, beside what happens to its feed. */
export type ProcessDiagnostic = HandlerFailed | UpdateSkipped | UpdateParked;

/** A handler failed, and is tried again. */
export interface HandlerFailed {
  /** Tells the events apart. */
  readonly _tag: 'HandlerFailed';
  /** Where the update stands. */
  readonly offset: Offset;
  /** How many times in a row it has failed. */
  readonly failures: number;
  /** How long the processor waits before it tries again, in milliseconds. */
  readonly delayMs: number;
  /** The handler's own error. */
  readonly cause: unknown;
}

/** An update could not be handled, and the processor went on without it. */
export interface UpdateSkipped {
  /** Tells the events apart. */
  readonly _tag: 'UpdateSkipped';
  /** Where the update stands. */
  readonly offset: Offset;
  /** How many times it was tried; 1 for one that does not decode. */
  readonly attempts: number;
  /** The handler's own error, or why the update does not decode. */
  readonly cause: unknown;
}

/** An update could not be handled, and was put aside in the store. */
export interface UpdateParked {
  /** Tells the events apart. */
  readonly _tag: 'UpdateParked';
  /** Where the update stands. */
  readonly offset: Offset;
  /** How many times it was tried; 1 for one that does not decode. */
  readonly attempts: number;
  /** The handler's own error, or why the update does not decode. */
  readonly cause: unknown;
}

/** Reports to those who listen, on behalf of a feed or of none. */
export const reportTo =
  (events: Pick<Listeners, 'observed' | 'next'>, feed?: number): Report =>
  (happening) => {
    if (events.observed) events.next({ ...happening(), at: asyncScheduler.now(), ...(feed !== undefined && { feed }) });
  };
