import type { FeedDiagnostic } from './FeedDiagnostic.js';
import type { ProcessDiagnostic } from './ProcessDiagnostic.js';
import type { SubmissionDiagnostic, OutboxDiagnostic, RuleDiagnostic } from './SubmissionDiagnostic.js';
import type { Problem } from '../codecs/Problem.js';
import type { Offset } from '../codecs/scalars.js';
import type { LedgerError } from '../errors/LedgerError.js';

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

/**
 * A diagnostic of the active contracts, in addition to those of their feed.
 *
 * @inline
 */
type ContractsDiagnostic =
  /**
   * A snapshot of the active contracts is being read. Reported again if the participant does not serve it in this way.
   */
  | {
      /** Discriminates the union. */
      readonly _tag: 'SnapshotStarted';
      /** The offset of the snapshot. Absent if the participant does not serve the ledger end and chooses the offset itself. */
      readonly offset?: Offset;
      /** How it is read: in pages; in lists, each of which continues the previous one; or by a WebSocket. */
      readonly by: 'pages' | 'lists' | 'socket';
    }
  /** A part of a snapshot was received. */
  | {
      /** Discriminates the union. */
      readonly _tag: 'SnapshotPageReceived';
      /** The number of entries; of updates if the snapshot is derived from updates; 1 for an element of a WebSocket. */
      readonly count: number;
      /** The sum of `count` so far. */
      readonly total: number;
      /** The time since the previous part, in milliseconds. */
      readonly durationMs: number;
    }
  /** A snapshot cannot be completed and begins again. The parts that were received are dropped. */
  | {
      /** Discriminates the union. */
      readonly _tag: 'SnapshotRestarted';
      /** The reason. */
      readonly cause: LedgerError;
      /** The delay before it begins again, in milliseconds. */
      readonly delayMs: number;
    }
  /** A snapshot is complete. */
  | {
      /** Discriminates the union. */
      readonly _tag: 'SnapshotCompleted';
      /** The offset of the snapshot. */
      readonly offset: Offset;
      /** The number of entries, or of updates if the snapshot is derived from updates. */
      readonly count: number;
      /** The time since the snapshot last began, in milliseconds. */
      readonly durationMs: number;
    }
  /** The payload of a contract does not decode. The contract is an `UndecodedContract`. */
  | {
      /** Discriminates the union. */
      readonly _tag: 'ContractUndecoded';
      /** The contract. */
      readonly contractId: string;
      /** The name of the contract's type in the query. */
      readonly expectedType: string;
      /** Why it does not decode, without any values. */
      readonly problems: readonly Problem[];
    }
  /** The participant does not know some types of a query. The contracts of the other types are read until it does. */
  | {
      /** Discriminates the union. */
      readonly _tag: 'TypesUnknown';
      /** The names of the types in the query. */
      readonly types: readonly string[];
      /** The delay before the participant is queried again, in milliseconds. */
      readonly retryInMs: number;
    }
  /**
   * The contracts of a query were read again, and differ from those that were known at the same offset although no update
   * changed them.
   */
  | {
      /** Discriminates the union. */
      readonly _tag: 'ContractsReconciled';
      /**
       * Why: `'packageFound'` if a package was uploaded, `'appeared'` if earlier updates are visible that were not,
       * `'selectionChanged'` if the query selects other contracts than before, or more of each.
       */
      readonly reason: 'packageFound' | 'appeared' | 'selectionChanged';
      /** The offset. */
      readonly offset: Offset;
      /** The number of contracts at the offset. */
      readonly contracts: number;
    };
