import { expect, it } from '@jest/globals';
import type pg from 'pg';
import { concatMap, from, lastValueFrom, map, NEVER, type Observable, throwError, timeout } from 'rxjs';
import { explainUnanswered, inTransaction } from '../../src/cli/change.js';
import { databaseErrorOf, type Pool, type Queryable, rowsOf } from '../../src/cli/database.js';
import { describeWithPostgres } from '../helpers/postgresServer.js';
import { stopClock } from '../helpers/time.js';
import { runVirtually } from '../helpers/virtualTime.js';
import { withDatabase } from '../postgres/support.js';

it('says that a change may be made later if the database does not answer in time', () => {
  const errors: unknown[] = [];
  runVirtually(() => {
    NEVER.pipe(timeout(30_000), explainUnanswered('canton-rx outbox list')).subscribe({
      error: (error: unknown) => errors.push(error),
    });
  });
  expect(errors).toMatchObject([
    {
      trouble: {
        text: 'the database does not answer in time, and the change may have been made, or may be made later',
        next: 'canton-rx outbox list shows whether it was, before you repeat it',
      },
    },
  ]);
});

it.each([
  ['EPIPE', 'write EPIPE', 'the connection was closed'],
  ['ECONNRESET', 'read ECONNRESET', 'the connection was closed'],
  ['57P01', 'terminating connection due to administrator command', 'the connection was closed'],
  ['ETIMEDOUT', 'read ETIMEDOUT', 'the database does not answer in time'],
])('says why there is no answer to a change: %s', (code, message, why) => {
  const broken = Object.assign(new Error(message), { code, severity: 'FATAL' });
  const errors: unknown[] = [];
  throwError(() => broken)
    .pipe(explainUnanswered('canton-rx outbox list'))
    .subscribe({ error: (error: unknown) => errors.push(error) });
  const text = `${why}, and the change may have been made, or may be made later`;
  expect(errors).toMatchObject([{ trouble: { text } }]);
});

it.each([
  { code: '23505', severity: 'ERROR', message: 'duplicate key' },
  { code: '40001', severity: 'ERROR', message: 'could not serialize access' },
])('passes a refusal of the database on: $code', ({ message, ...rest }) => {
  const refusal = Object.assign(new Error(message), rest);
  const errors: unknown[] = [];
  throwError(() => refusal)
    .pipe(explainUnanswered('canton-rx outbox list'))
    .subscribe({ error: (error: unknown) => errors.push(error) });
  expect(errors).toEqual([refusal]);
});

it('says that a change may be made if the database does not answer its commit, as while a standby must confirm it', async () => {
  const clock = stopClock();
  const query = (sql: string) => (sql === 'COMMIT' ? new Promise(() => undefined) : Promise.resolve({ rows: [] }));
  const pool = { connect: () => Promise.resolve({ query, release: () => undefined }) } as unknown as Pool;
  const changed = lastValueFrom(inTransaction(pool, 'canton-rx processors list', (db) => rowsOf(db, 'UPDATE')));
  const refused = expect(changed).rejects.toMatchObject({
    trouble: {
      text: 'the database does not answer in time, and the change may have been made, or may be made later',
      next: 'canton-rx processors list shows whether it was, before you repeat it',
    },
  });
  await clock.hasTimer();
  await clock.advance(30_000);
  await refused;
});

describeWithPostgres('a change in a transaction', () => {
  const database = withDatabase();
  const change = <A>(work: (db: Queryable) => Observable<A>): Promise<A> =>
    lastValueFrom(inTransaction(database.pool, 'canton-rx processors list', work));

  it('keeps no row locked for long if the command stands still, or its network breaks', async () => {
    const limit = (db: Queryable) =>
      rowsOf(db, 'SHOW idle_in_transaction_session_timeout').pipe(map(([row]) => Object.values(row ?? {})));
    expect(await change(limit)).toEqual(['10s']);
  });

  it('was not made if its connection breaks before the commit, and says so without a stack', async () => {
    const broken = change((db) =>
      rowsOf(db, 'SELECT pg_backend_pid() AS pid').pipe(
        concatMap(([row]) => {
          const client = db as pg.PoolClient;
          const closed = new Promise((resolve) => client.on('error', () => undefined).once('end', resolve));
          return from(database.pool.query('SELECT pg_terminate_backend($1)', [row?.['pid']])).pipe(
            concatMap(() => closed),
          );
        }),
      ),
    );
    const error: unknown = await broken.catch((caught: unknown) => caught);
    expect(databaseErrorOf(error, 'public')?.trouble.text).toBe('the connection was closed');
  });
});
