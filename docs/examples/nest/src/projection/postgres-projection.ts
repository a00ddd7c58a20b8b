import type { LedgerReader, UpdateFormat } from 'canton-rx';
import { postgresStore } from 'canton-rx/postgres';
import { processFeed, updatesFeed, type Committed } from 'canton-rx/process';
import { Pool } from 'pg';
import { concatMap, defer, retry, takeUntil, fromEvent, timer, type Observable } from 'rxjs';
import { batch } from './batch.js';
import { postgresHandler } from './postgres-handler.js';
import { postgresTables } from './postgres-tables.js';
import { Projection, type Active, type Stopping } from './projection.js';

/** Keeps the projection in PostgreSQL, where each update takes effect exactly once. */
export class PostgresProjection extends Projection {
  readonly hasReplicas = true;
  private readonly pool: Pool;

  constructor(
    private readonly ledger: LedgerReader,
    private readonly updateFormat: UpdateFormat,
    url: string,
    private readonly warn: (error: Error) => void,
  ) {
    super();
    this.pool = new Pool({
      connectionString: url,
      // the processor holds one connection; keep-alive detects a database that does not answer
      max: 5,
      connectionTimeoutMillis: 3_000,
      query_timeout: 10_000,
    });
    // without a listener, an error of an idle connection would end the process
    this.pool.on('error', warn);
  }

  follow({ signal, stopWithinMs }: Stopping): Observable<Committed> {
    const feed = updatesFeed(this.ledger, { beginExclusive: 0, updateFormat: this.updateFormat });
    const tablesMade$ = defer(() => this.pool.query(postgresTables)).pipe(
      // the service may start before its database
      retry({
        delay: (error: Error) => {
          this.warn(error);
          return timer(1_000);
        },
      }),
      takeUntil(fromEvent(signal, 'abort')),
    );
    return tablesMade$.pipe(
      concatMap(() =>
        processFeed(feed, postgresHandler, {
          name: 'contracts',
          store: postgresStore({ pool: this.pool, timeoutMs: 10_000 }),
          batch,
          signal,
          stopWithinMs,
        }),
      ),
    );
  }

  async active(): Promise<readonly Active[]> {
    const { rows } = await this.pool.query<Active>(
      `SELECT template_id AS "templateId", count(*)::int AS count FROM contracts GROUP BY 1 ORDER BY 1`,
    );
    return rows;
  }

  async check(): Promise<void> {
    await this.pool.query({ text: 'SELECT 1', query_timeout: 2_000 } as { text: string });
  }

  async close(): Promise<void> {
    await this.pool.end();
  }
}
