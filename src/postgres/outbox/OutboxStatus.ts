import type { Pool } from 'pg';
import { asyncScheduler, catchError, concatMap, defer, exhaustMap, map, type Observable, of, timer } from 'rxjs';
import { quotable } from '../../errors/internal/message.js';
import { query } from '../connection.js';
import { isRunning, type OutboxTables } from './OutboxRows.js';
import type { Submitted } from './outcome.js';

/**
 * The status of an outbox: plain JSON, for a health endpoint. The numbers are those of the database, whichever process sends.
 *
 * @category Outbox
 */
export interface OutboxStatus {
  /** The name of the outbox. */
  readonly outbox: string;
  /** `'leader'` if this process sends, `'standby'` if another one does, or none. */
  readonly role: 'standby' | 'leader';
  /**
   * `'running'` if this process sends what is due, `'paused'` while the participant is overloaded or cannot be reached,
   * `'waiting'` if it does not send. `'disconnected'` while the database cannot be read: it is not ready then, and the numbers are
   * the last known ones.
   */
  readonly state: 'waiting' | 'running' | 'paused' | 'disconnected';
  /** The number of commands that are sent again later, or that wait for an earlier one of their key. */
  readonly waiting: number;
  /** The number of commands that are due and not begun. */
  readonly due: number;
  /** The number of commands that are being sent. */
  readonly running: number;
  /** The number of commands that wait for a person. */
  readonly parked: number;
  /** How long the oldest command that is not parked has waited since it was enqueued, in milliseconds; 0 if there is none. */
  readonly oldestMs: number;
  /** Why the database cannot be read. */
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
  /** Emits the status at once, and every second. Endless; subscribing to it sends nothing. */
  readonly status$: Observable<OutboxStatus>;
}

/** What the process does itself. */
export type OwnState = Pick<OutboxStatus, 'role' | 'state'>;

type Counts = Pick<OutboxStatus, 'waiting' | 'due' | 'running' | 'parked' | 'oldestMs'>;

/** How often a status is emitted, in milliseconds. */
const everyMs = 1_000;

/** Emits the status of an outbox, now and every second. */
export const statusOf = (
  { pool, name, timeoutMs, ready$ }: Reading,
  tables: OutboxTables,
  own: () => OwnState,
): Observable<OutboxStatus> =>
  defer(() => {
    let last: Counts = { waiting: 0, due: 0, running: 0, parked: 0, oldestMs: 0 };
    const counts$ = defer(() => ready$).pipe(
      concatMap(() => query(pool, timeoutMs, countsSql(tables), [name])),
      map(([row = {}]) => {
        const count = (column: keyof Counts): number => Number(row[column]);
        last = {
          waiting: count('waiting'),
          due: count('due'),
          running: count('running'),
          parked: count('parked'),
          oldestMs: count('oldestMs'),
        };
        return own();
      }),
      catchError((error: unknown) => {
        const text = error instanceof Error ? quotable(error.message, []) : 'unknown';
        return of({ ...own(), state: 'disconnected', error: text } as const);
      }),
    );
    return timer(0, everyMs).pipe(
      exhaustMap(() => counts$),
      map((state) => ({ outbox: name, ...state, ...last, at: asyncScheduler.now() })),
    );
  });

/** Where the status is read. */
interface Reading {
  readonly pool: Pool;
  readonly name: string;
  readonly timeoutMs: number;
  readonly ready$: Observable<unknown>;
}

const countsSql = ({ commands }: OutboxTables): string => `WITH open AS (
    SELECT state, enqueued_at,
      ${isRunning} AS "isRunning",
      retry_at > now() OR (key IS NOT NULL AND EXISTS (SELECT FROM ${commands} AS earlier
        WHERE earlier.name = c.name AND earlier.key = c.key AND earlier.id < c.id
          AND earlier.state IN ('pending', 'parked'))) AS "isWaiting"
    FROM ${commands} AS c WHERE name = $1 AND state IN ('pending', 'parked'))
  SELECT count(*) FILTER (WHERE state = 'parked') AS parked,
    count(*) FILTER (WHERE state = 'pending' AND "isRunning") AS running,
    count(*) FILTER (WHERE state = 'pending' AND NOT "isRunning" AND "isWaiting") AS waiting,
    count(*) FILTER (WHERE state = 'pending' AND NOT "isRunning" AND "isWaiting" IS NOT TRUE) AS due,
    coalesce(round(extract(epoch FROM max(now() - enqueued_at) FILTER (WHERE state = 'pending')) * 1000), 0) AS "oldestMs"
  FROM open`;
