import type { ContractsDiagnostic } from './ContractsDiagnostic.js';
import type { FeedDiagnostic } from './FeedDiagnostic.js';
import type { ProcessDiagnostic } from './ProcessDiagnostic.js';
import type { SubmissionDiagnostic } from './SubmissionDiagnostic.js';
import type { OutboxDiagnostic, RuleDiagnostic } from './WorkDiagnostic.js';

/**
 * A report about the work of a ledger client, for logs, metrics and progress displays. A closed union, discriminated by `_tag`:
 * a `switch` over it can be exhaustive. Contains no token, signature or payload. {@link logTo} writes the important ones to a
 * log. A diagnostic of one kind has the type `Extract<Diagnostic, { _tag: 'RetryScheduled' }>`.
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
export type Diagnostic = DiagnosticBody &
  WorkName & {
    /** The time of the report by the clock of this machine, in milliseconds since the epoch. */
    readonly at: number;
    /** The number of the feed that reported it: 1 for the first feed of the ledger. Absent if the report is not from a feed. */
    readonly feed?: number;
    /** The name of the processor that reported it. Absent if the report is not from a processor, or if it has no name. */
    readonly processor?: string;
  };

/**
 * The name of the rule or of the outbox whose work a diagnostic is about: also that of its submissions, of its contracts, and of
 * its database. Absent if it is about neither.
 *
 * @inline
 */
export interface WorkName {
  /** The name of the rule. */
  readonly rule?: string;
  /** The name of the outbox. */
  readonly outbox?: string;
}

/**
 * A diagnostic without its time and its feed.
 *
 * @inline
 */
export type DiagnosticBody =
  FeedDiagnostic | ContractsDiagnostic | ProcessDiagnostic | SubmissionDiagnostic | RuleDiagnostic | OutboxDiagnostic;

/** The diagnostic of a kind, by its `_tag`. */
export type DiagnosticOf<T extends DiagnosticBody['_tag']> = Extract<DiagnosticBody, { readonly _tag: T }>;

/**
 * Reports a diagnostic. `body` is only called if there is a subscriber.
 *
 * @category Diagnostics
 */
export type Report = (body: () => DiagnosticBody) => void;
