import type { Offset } from '../codecs/scalars.js';
import type { StoreError } from '../errors/process.js';
import type { ContractsDiagnostic } from './ContractsDiagnostic.js';
import type { FeedDiagnostic } from './FeedDiagnostic.js';
import type { SubmissionDiagnostic } from './SubmissionDiagnostic.js';

/**
 * A report about the work of a ledger client, for logs, metrics and progress displays. A closed union, discriminated by `_tag`:
 * a `switch` over it can be exhaustive. Contains no token, signature or payload. {@link logTo} writes the important ones to a
 * log.
 *
 * @example
 * ```ts
 * import { createLedger, type Diagnostic } from 'canton-rx';
 *
 * const line = (diagnostic: Diagnostic): string => {
 *   switch (diagnostic._tag) {
 *     case 'RetryScheduled':
 *       return `${diagnostic.cause.name}; retry in ${diagnostic.delayMs} ms`;
 *     case 'FellBehind':
 *       return `${diagnostic.lag ?? '?'} offsets behind`;
 *     default:
 *       return diagnostic._tag;
 *   }
 * };
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575' });
 * const logging = ledger.diagnostics$.subscribe((diagnostic) => {
 *   console.log(new Date(diagnostic.at).toISOString(), diagnostic.feed, line(diagnostic));
 * });
 * logging.unsubscribe();
 * ```
 * @category Diagnostics
 */
export type Diagnostic = DiagnosticBody & {
  /** The time of the report by the clock of this machine, in milliseconds since the epoch. */
  readonly at: number;
  /** The number of the feed that reported it: 1 for the first feed of the ledger. Absent if the report is not from a feed. */
  readonly feed?: number;
};

/**
 * A diagnostic without its time and its feed.
 *
 * @category Diagnostics
 */
export type DiagnosticBody =
  FeedDiagnostic | ContractsDiagnostic | ProcessDiagnostic | SubmissionDiagnostic | ResponseDelayed | TokenRefreshed;

/**
 * A request has no response yet, and its timeout is not over. Not reported while a poll waits for updates.
 *
 * @category Diagnostics
 */
export interface ResponseDelayed {
  /** Discriminates the union. */
  readonly _tag: 'ResponseDelayed';
  /** The path of the request. */
  readonly path: string;
  /** The host and the port of the participant or proxy. */
  readonly host: string;
  /** The time since the request was sent, in milliseconds. */
  readonly waitedMs: number;
}

/**
 * The participant refused a token, and the provider returned another one.
 *
 * @category Diagnostics
 */
export interface TokenRefreshed {
  /** Discriminates the union. */
  readonly _tag: 'TokenRefreshed';
  /** The path of the refused request. */
  readonly path: string;
}

/**
 * A diagnostic of a processor, in addition to those of its feed.
 *
 * @category Diagnostics
 */
export type ProcessDiagnostic = HandlerFailed | UpdateSkipped | UpdateParked | NameLost;

/**
 * A handler failed. The processor will call it again after a delay.
 *
 * @category Diagnostics
 */
export interface HandlerFailed {
  /** Discriminates the union. */
  readonly _tag: 'HandlerFailed';
  /** The offset of the update. */
  readonly offset: Offset;
  /** The number of failures in a row. */
  readonly failures: number;
  /** The delay before the next call, in milliseconds. */
  readonly delayMs: number;
  /** The error of the handler. */
  readonly cause: unknown;
}

/**
 * An update could not be handled. The processor skipped it and continues.
 *
 * @category Diagnostics
 */
export interface UpdateSkipped {
  /** Discriminates the union. */
  readonly _tag: 'UpdateSkipped';
  /** The offset of the update. */
  readonly offset: Offset;
  /** The number of attempts; 1 for an update that does not decode. */
  readonly attempts: number;
  /** The error of the handler, or the reason why the update does not decode. */
  readonly cause: unknown;
}

/**
 * An update could not be handled. The processor saved it in the store and continues.
 *
 * @category Diagnostics
 */
export interface UpdateParked {
  /** Discriminates the union. */
  readonly _tag: 'UpdateParked';
  /** The offset of the update. */
  readonly offset: Offset;
  /** The number of attempts; 1 for an update that does not decode. */
  readonly attempts: number;
  /** The error of the handler, or the reason why the update does not decode. */
  readonly cause: unknown;
}

/**
 * A processor that was stopped had lost its name to another processor, and completed. The other processor handles the updates
 * that are not committed.
 *
 * @category Diagnostics
 */
export interface NameLost {
  /** Discriminates the union. */
  readonly _tag: 'NameLost';
  /** The error of the store. */
  readonly cause: StoreError;
}

/**
 * Reports a diagnostic. `body` is only called if there is a subscriber.
 *
 * @category Diagnostics
 */
export type Report = (body: () => DiagnosticBody) => void;
