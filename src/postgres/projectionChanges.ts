import type { Pool, PoolClient } from 'pg';
import {
  concatMap,
  defer,
  distinctUntilChanged,
  exhaustMap,
  filter,
  fromEvent,
  ignoreElements,
  map,
  merge,
  type Observable,
  ReplaySubject,
  share,
  startWith,
  switchMap,
  timer,
} from 'rxjs';
import { clampTimer } from '../http/retry.js';
import { processIdOf } from './checkSession.js';
import { connect, query } from './connection.js';
import { quoteSchema } from './storeTables.js';

/** How to notice changes. */
interface ChangesOptions {
  readonly schema: string;
  /** The interval at which the offset is read where `LISTEN` does not work, in milliseconds. */
  readonly pollMs: number;
  readonly timeoutMs: number;
}

/** The interval at which an idle connection is tried, in milliseconds: a broken one would stay silent like a quiet ledger. */
const aliveMs = 30_000;

/** The changes of projections that are read now, by pool. Those that read the same schema share one connection. */
const shared = new WeakMap<Pool, Map<string, Observable<unknown>>>();

/**
 * Emits when a projection may have changed: as soon as changes are noticed, so that no change comes between a query that is sent then
 * and the next one, and after each commit. Fails when the connection breaks, and if there is no projection.
 */
export function changesOf(pool: Pool, options: ChangesOptions): Observable<unknown> {
  const { schema, pollMs, timeoutMs } = options;
  const byKey = shared.get(pool) ?? new Map<string, Observable<unknown>>();
  shared.set(pool, byKey);
  const key = [schema, pollMs, timeoutMs].join();
  const changes$ =
    byKey.get(key) ??
    connect(pool, timeoutMs).pipe(
      switchMap(({ client, lost$ }) => merge(lost$, noticed(client, options))),
      // who comes later finds that changes are noticed already
      share({ connector: () => new ReplaySubject(1) }),
    );
  byKey.set(key, changes$);
  return changes$;
}

/**
 * Listens, or polls where `LISTEN` does not work: on a replica, where the tables have no trigger, and through a pooler, which may give
 * the connection to another client after each transaction.
 */
const noticed = (client: PoolClient, { schema, pollMs, timeoutMs }: ChangesOptions): Observable<unknown> => {
  const run = (sql: string, values: readonly unknown[] = []) => query(client, timeoutMs, sql, values);
  const state = `${quoteSchema(schema)}.projection_state`;
  // contracts that were read again may differ at the same offset: a changed row has another xmin
  const version$ = run(
    `SELECT concat_ws(' ', ${quoteSchema(schema)}.latest_offset(), s.xmin) AS version FROM ${state} s`,
  ).pipe(map(([row]): unknown => row?.['version']));
  const repeated = (everyMs: number): Observable<unknown> => timer(everyMs, everyMs).pipe(exhaustMap(() => version$));
  const listened = defer(() => {
    const channel = channelOf(schema);
    const notified$ = fromEvent(client, 'notification').pipe(
      filter((message) => (message as { readonly channel?: unknown }).channel === channel),
    );
    const begun$ = run(`LISTEN ${client.escapeIdentifier(channel)}`).pipe(map(() => 'listens'));
    return merge(notified$, begun$, repeated(aliveMs).pipe(ignoreElements()));
  });
  // without the trigger, as in tables of before or in a copy of them, nothing notifies
  const canListen = `SELECT pg_backend_pid() = $1 AND NOT pg_is_in_recovery() AND EXISTS (SELECT FROM pg_trigger t
    WHERE t.tgrelid = to_regclass($2) AND t.tgname = 'projection_changed' AND t.tgenabled IN ('O', 'A')) AS "canListen"`;
  return version$.pipe(
    concatMap((version) =>
      run(canListen, [processIdOf(client), state]).pipe(
        concatMap(([row]) =>
          row?.['canListen'] === true
            ? listened
            : repeated(clampTimer(pollMs)).pipe(startWith(version), distinctUntilChanged()),
        ),
      ),
    ),
  );
};

/** The channel on which the projection of a schema notifies. The names of channels have at most 63 bytes. */
export const channelOf = (schema: string): string => `canton_rx_${schema}`.slice(0, 63);
