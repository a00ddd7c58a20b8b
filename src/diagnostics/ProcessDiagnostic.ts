import type { Offset } from '../codecs/scalars.js';
import type { StoreError } from '../errors/process.js';

/**
 * The role of a processor under its name: it connects to its store (`'starting'`), waits while another processor holds the name
 * (`'standby'`), or holds it and works (`'leader'`).
 *
 * @category Processing
 */
export type ProcessorRole = 'starting' | 'standby' | 'leader';

/**
 * A diagnostic of a processor, in addition to those of its feed.
 *
 * @inline
 */
export type ProcessDiagnostic =
  /** A processor has another role. A standby reports it when its store, its cursor and its handler have been checked. */
  | {
      /** Discriminates the union. */
      readonly _tag: 'RoleChanged';
      /** The role from now on. */
      readonly role: ProcessorRole;
      /** The offset of the stored cursor; absent if it is not known yet. */
      readonly offset?: Offset;
      /** Set for a standby whose name is paused. */
      readonly isPaused?: true;
    }
  /** A processor continues with other parties, filters or transaction shapes than before. */
  | {
      /** Discriminates the union. */
      readonly _tag: 'SelectionChanged';
      /** The offset after which they apply. What only they select before it is left out, unless the feed has `backfill`. */
      readonly offset: Offset;
    }
  /** A processor has committed: the updates at or before the offset take effect, and the cursor is saved. */
  | {
      /** Discriminates the union. */
      readonly _tag: 'CommitSaved';
      /** The offset of the saved cursor. */
      readonly offset: Offset;
      /** The number of updates that were handled. */
      readonly handled: number;
      /** How long the handler worked, in milliseconds. */
      readonly handlerMs: number;
      /** How long the store took to begin, save and commit, in milliseconds. */
      readonly commitMs: number;
    }
  /** A processor has handled everything that the ledger was known to have. Reported when it has caught up, not while it stays so. */
  | {
      /** Discriminates the union. */
      readonly _tag: 'WorkCaughtUp';
      /** The offset up to which everything is handled. */
      readonly offset: Offset;
    }
  /** A call of the handler has lasted for 30 seconds or more. Reported again while it lasts. */
  | {
      /** Discriminates the union. */
      readonly _tag: 'HandlerDelayed';
      /** The offset of the update, or of the first update of the batch. */
      readonly offset: Offset;
      /** How long the call has lasted, in milliseconds. */
      readonly waitedMs: number;
    }
  /** The store has not committed for 10 seconds or more. It may wait for a lock. Reported again while it lasts. */
  | {
      /** Discriminates the union. */
      readonly _tag: 'CommitDelayed';
      /** How long the commit has lasted, in milliseconds. */
      readonly waitedMs: number;
    }
  /** A processor was stopped, and its handler or its commit did not end in time. Its updates are handled after a restart. */
  | {
      /** Discriminates the union. */
      readonly _tag: 'WorkAbandoned';
      /** The operation that did not end. */
      readonly during: 'handler' | 'commit';
      /** The offset of the update, or of the first update of the batch. */
      readonly offset: Offset;
      /** How long the processor waited, in milliseconds. */
      readonly waitedMs: number;
    }
  /** A handler failed. The processor will call it again after a delay. */
  | {
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
  /** An update could not be handled. The processor skipped it and continues. */
  | {
      /** Discriminates the union. */
      readonly _tag: 'UpdateSkipped';
      /** The offset of the update. */
      readonly offset: Offset;
      /** The number of attempts; 1 for an update that does not decode. */
      readonly attempts: number;
      /** The error of the handler, or the reason why the update does not decode. */
      readonly cause: unknown;
    }
  /** An update could not be handled. The processor saved it in the store and continues. */
  | {
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
   */
  | {
      /** Discriminates the union. */
      readonly _tag: 'NameLost';
      /** The error of the store. */
      readonly cause: StoreError;
    }
  /**
   * A projection of contracts has loaded all contracts and removes its earlier rows, in the transaction that makes the new
   * ones visible.
   */
  | {
      /** Discriminates the union. */
      readonly _tag: 'RowsReplaced';
      /**
       * Why: `'ledgerReset'` if the ledger was restored or replaced. Otherwise the earlier rows are those of another
       * processor, or the cursor was lost.
       */
      readonly reason: 'start' | 'pruned' | 'ledgerReset' | 'packageFound' | 'appeared' | 'selectionChanged';
      /** The schema of the projection. */
      readonly schema: string;
      /** The offset of the new contracts. */
      readonly offset: Offset;
      /** The number of removed rows of contracts, which includes their interface views. */
      readonly contracts: number;
      /** The number of removed exercises. */
      readonly exercises: number;
      /** The number of removed updates. */
      readonly updates: number;
    }
  /**
   * A projection of contracts has loaded all contracts after a gap, and ends those that are no longer active. The updates in the
   * gap are not known.
   */
  | {
      /** Discriminates the union. */
      readonly _tag: 'ContractsEnded';
      /** Why the contracts were loaded. */
      readonly reason: 'pruned';
      /** The schema of the projection. */
      readonly schema: string;
      /** The offset after which the gap begins. */
      readonly after: Offset;
      /** The offset at which the gap ends. */
      readonly until: Offset;
      /** The number of rows of contracts, including their interface views, that ended in the gap. */
      readonly contracts: number;
    };
