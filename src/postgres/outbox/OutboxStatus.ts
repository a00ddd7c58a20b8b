import type { Pool } from 'pg';
import { asyncScheduler, catchError, concatMap, map, type Observable, of } from 'rxjs';
import type { WorkCounts } from '../../diagnostics/SubmissionDiagnostic.js';
import { noWork } from '../../dispatch/dispatch.js';
import { quotable } from '../../errors/internal/message.js';
import { query } from '../connection.js';
import { countsOf, countsSql, outboxTablesIn } from './tables.js';
import type { Submitted } from './outcome.js';

/**
 * The status of an outbox: plain JSON, for a health endpoint. The numbers are those of the database, whichever process sends.
 * `waiting` counts the commands that are sent again later, or that wait for an earlier one of their key; `parked` those that wait
 * for a person, which do not count for `oldestMs`.
 *
 * @category Outbox
 */
export interface OutboxStatus extends WorkCounts {
  /** The name of the outbox. */
  readonly outbox: string;
  /** `'leader'` if this process sends, `'standby'` if another one does, or none; `'starting'` unless it is subscribed to. */
  readonly role: 'standby' | 'starting' | 'leader';
  /**
   * `'running'` if this process sends what is due, `'paused'` while the participant is overloaded or cannot be reached,
   * `'waiting'` if it does not send. `'disconnected'` while the database cannot be read: it is not ready then, and the numbers are
   * the last known ones. `'ended'` after it has completed, failed or was unsubscribed.
   */
  readonly state: 'waiting' | 'running' | 'paused' | 'disconnected' | 'ended';
  /** Why the database cannot be read, or why it ended if it failed. */
  readonly error?: string;
  /** When this status was taken, in milliseconds since the epoch. */
  readonly at: number;
}

/**
 * What {@link CommandOutbox.submitAll} returns: the outcomes of the commands, and the status of the outbox.
 *
 * @category Outbox
 */
export interface Submissions extends Observable<Submitted> {
  /**
   * Emits the status now, every second, and when the work begins and ends. Subscribing to it sends nothing. It neither
   * completes nor fails: after the work has ended, the state is `'ended'`.
   */
  readonly status$: Observable<OutboxStatus>;

  /**
   * Stops the present run: it begins nothing, finishes what is in flight, and completes. It takes at most `stopWithinMs`. Has no
   * effect unless the outbox runs.
   */
  readonly stop: () => void;
}

/** What the process does itself. */
export type OwnState = Pick<OutboxStatus, 'role' | 'state'>;

/** An outbox in a database. */
export interface OutboxPlace {
  readonly pool: Pool;
  readonly schema: string;
  readonly name: string;
  readonly timeoutMs: number;
  /** Emits once when the tables exist. */
  readonly ready$: Observable<unknown>;
}

/** Returns a function that reads the status of an outbox. While the database is away, it has the last known counts. */
export function statusReader(
  { pool, schema, name, timeoutMs, ready$ }: OutboxPlace,
  own: () => OwnState,
): () => Observable<OutboxStatus> {
  let last = noWork;
  return () =>
    ready$.pipe(
      concatMap(() => query(pool, timeoutMs, countsSql(outboxTablesIn(schema)), [name])),
      map((rows) => {
        last = countsOf(rows);
        return own();
      }),
      catchError((error: unknown) => {
        const text = error instanceof Error ? quotable(error.message, []) : 'unknown';
        return of({ ...own(), state: 'disconnected', error: text } as const);
      }),
      map((state) => ({ outbox: name, ...state, ...last, at: asyncScheduler.now() })),
    );
}
