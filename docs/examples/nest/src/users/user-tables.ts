import { Inject, Injectable, ServiceUnavailableException } from '@nestjs/common';
import type { Notification, Pool, PoolClient, QueryResultRow } from 'pg';
import {
  defer,
  filter,
  finalize,
  firstValueFrom,
  fromEvent,
  map,
  merge,
  mergeMap,
  type Observable,
  retry,
  share,
  shareReplay,
  startWith,
  switchMap,
  throwError,
} from 'rxjs';
import { POOL } from '../database/pool.js';

/** How long after a failure the database is tried again, in milliseconds. */
const retryMs = 500;

/**
 * The tables of users: their parties, and their logouts. Whoever administers users writes the first, with SQL. The database
 * notifies all processes of each change.
 */
@Injectable()
export class UserTables {
  private readonly created$: Observable<unknown>;
  /** Emits the user or the token of each change; `undefined` when changes may have been missed. */
  private readonly changed$: Observable<string | undefined>;

  constructor(@Inject(POOL) private readonly pool: Pool) {
    // two processes that create the same table at once can fail; a failure is not kept
    this.created$ = defer(() => pool.query(createTables)).pipe(retry(1), shareReplay(1));
    this.changed$ = this.created$.pipe(
      switchMap(() => listening(pool)),
      retry({ delay: retryMs }),
      share(),
    );
  }

  /** Reads the tables once. */
  async read<Row extends QueryResultRow>(sql: string, values: readonly unknown[]): Promise<readonly Row[]> {
    const rows$ = this.created$.pipe(switchMap(() => this.pool.query<Row>(sql, [...values])));
    try {
      return (await firstValueFrom(rows$)).rows;
    } catch (cause) {
      throw new ServiceUnavailableException('the users cannot be read now', { cause });
    }
  }

  /** Reads the tables at once, and after each change of a key. While the database is unreachable, what was read last remains. */
  watch<Row extends QueryResultRow>(sql: string, key: string): Observable<readonly Row[]> {
    return this.changed$.pipe(
      filter((changed) => changed === undefined || changed === key),
      startWith(undefined),
      switchMap(() => defer(() => this.read<Row>(sql, [key])).pipe(retry({ delay: retryMs }))),
    );
  }
}

/** Emits when a connection listens, and the payload of each notification. Fails when the connection is lost. */
const listening = (pool: Pool): Observable<string | undefined> =>
  defer(() => pool.connect()).pipe(
    mergeMap((client: PoolClient) => {
      const lost$ = merge(fromEvent(client, 'error'), fromEvent(client, 'end')).pipe(
        mergeMap(() => throwError(() => new Error('the connection is lost'))),
      );
      const notified$ = (fromEvent(client, 'notification') as Observable<Notification>).pipe(
        map(({ payload }) => payload),
      );
      const begun$ = defer(() => client.query('LISTEN users')).pipe(map(() => undefined));
      return merge(lost$, notified$, begun$).pipe(finalize(() => client.release(true)));
    }),
  );

/** A row that is given to another user concerns both. */
const createTables = `
  CREATE SCHEMA IF NOT EXISTS users;
  CREATE TABLE IF NOT EXISTS users.rights (subject text, party text, PRIMARY KEY (subject, party));
  CREATE TABLE IF NOT EXISTS users.logouts (token_id text PRIMARY KEY, expires_at timestamptz NOT NULL);
  CREATE OR REPLACE FUNCTION users.notify() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    PERFORM pg_notify('users', to_jsonb(OLD) ->> TG_ARGV[0]), pg_notify('users', to_jsonb(NEW) ->> TG_ARGV[0]);
    RETURN NULL;
  END $$;
  DROP TRIGGER IF EXISTS changed ON users.rights;
  CREATE TRIGGER changed AFTER INSERT OR UPDATE OR DELETE ON users.rights
    FOR EACH ROW EXECUTE FUNCTION users.notify('subject');
  DROP TRIGGER IF EXISTS changed ON users.logouts;
  CREATE TRIGGER changed AFTER INSERT ON users.logouts
    FOR EACH ROW EXECUTE FUNCTION users.notify('token_id')`;
