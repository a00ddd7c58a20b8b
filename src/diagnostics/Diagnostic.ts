import type { Offset } from '../codecs/scalars.js';
import type { StoreError } from '../errors/process.js';
import type { ContractsDiagnostic } from './ContractsDiagnostic.js';
import type { FeedDiagnostic } from './FeedDiagnostic.js';
import type { SubmissionDiagnostic } from './SubmissionDiagnostic.js';

/**
 * A report about the work of a ledger client, for logs, metrics and progress displays. A closed union: `_tag` discriminates
 * it, and a `switch` over it can be exhaustive. Contains no token, signature or payload.
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
 */
export type Diagnostic = DiagnosticBody & {
  /** When it was reported, in milliseconds since the epoch, by the clock of this machine. */
  readonly at: number;
  /** The number of the feed that reported it: 1 for the first that the ledger started. Absent if it was not a feed. */
  readonly feed?: number;
};

/** A diagnostic without its time and its feed. */
export type DiagnosticBody =
  FeedDiagnostic | ContractsDiagnostic | ProcessDiagnostic | SubmissionDiagnostic | ResponseDelayed | TokenRefreshed;

/** A request has no response yet, and its timeout is not over. Not reported while a poll waits for updates. */
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

/** The service refused a token, and the provider returned another. */
export interface TokenRefreshed {
  /** Discriminates the union. */
  readonly _tag: 'TokenRefreshed';
  /** The path of the request that was refused. */
  readonly path: string;
}

/** A diagnostic of a processor, beside those of its feed. */
export type ProcessDiagnostic = HandlerFailed | UpdateSkipped | UpdateParked | NameLost;

/** A handler failed. The processor calls it again after a delay. */
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

/** An update could not be handled. The processor continued without it. */
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

/** An update could not be handled. The processor saved it in the store and continued. */
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
 * A processor that was told to stop had lost its name to another processor, and completed. The other one handles what it has
 * not committed.
 */
export interface NameLost {
  /** Discriminates the union. */
  readonly _tag: 'NameLost';
  /** The error of the store. */
  readonly cause: StoreError;
}

/** Reports a diagnostic. The function is only called if there is a subscriber. */
export type Report = (body: () => DiagnosticBody) => void;
