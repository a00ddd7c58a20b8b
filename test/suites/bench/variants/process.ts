import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool, type PoolClient } from 'pg';
import { lastValueFrom } from 'rxjs';
import { fileStore } from '../../../../src/file/index.js';
import { acsDelta } from '../../../../src/index.js';
import { postgresStore } from '../../../../src/postgres/index.js';
import {
  type CheckpointStore,
  type Feed,
  type HandlerResult,
  memoryStore,
  processFeed,
  updatesFeed,
  type Work,
} from '../../../../src/process/index.js';
import { type Load, type Outcome, type Stopwatch, stopwatch } from '../Load.js';
import { origin } from '../ledgerText.js';
import { ledgerOf } from './feed.js';
import { type Element, fetchPage, readPages } from './read.js';

const pageSize = 200;

async function feedOf(load: Load): Promise<Feed> {
  const { count, step } = load;
  return updatesFeed(await ledgerOf(load), {
    beginExclusive: origin,
    endInclusive: origin + count * step,
    updateFormat: acsDelta({ parties: 'any' }),
  });
}

/** Measures a run that counts updates. */
async function measure({ count }: Load, run: (watch: Stopwatch) => Promise<unknown>): Promise<Outcome> {
  const watch = stopwatch(count);
  await run(watch);
  return { cost: watch.each() };
}

/** `processFeed` with a handler that counts, and returns something. */
const processWith = (load: Load, store: CheckpointStore, result: () => HandlerResult): Promise<Outcome> =>
  measure(load, async (watch) => {
    const count = (): HandlerResult => {
      watch.add(1);
      return result();
    };
    await lastValueFrom(processFeed(await feedOf(load), count, { name: 'bench', store }));
  });

/** `processFeed` with a handler that does nothing. */
export const processNothing = (load: Load): Promise<Outcome> => processWith(load, memoryStore(), () => undefined);

/** The same with a handler that returns a Promise. */
export const processPromises = (load: Load): Promise<Outcome> =>
  processWith(load, memoryStore(), () => Promise.resolve());

/** The same with a place that is flushed to the disk at each page. */
export const processToFile = (load: Load): Promise<Outcome> =>
  withFolder((folder) => processWith(load, fileStore(folder), () => undefined));

export async function withFolder<A>(use: (folder: string) => Promise<A>): Promise<A> {
  const folder = await mkdtemp(join(tmpdir(), 'canton-rx-bench-'));
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const insert = 'INSERT INTO seen ("offset", update_id) VALUES ($1, $2)';
const insertBatch = 'INSERT INTO seen ("offset", update_id) SELECT * FROM unnest($1::bigint[], $2::text[])';
const idOf = (work: Work): string => ('updateId' in work ? work.updateId : '');

/** An empty table, and a pool. */
async function withTable<A>({ databaseUrl }: Load, use: (pool: Pool) => Promise<A>): Promise<A> {
  const pool = new Pool({ connectionString: databaseUrl });
  await pool.query('DROP TABLE IF EXISTS seen, canton_rx_cursors, canton_rx_parked');
  await pool.query('CREATE TABLE seen ("offset" bigint PRIMARY KEY, update_id text NOT NULL)');
  try {
    return await use(pool);
  } finally {
    await pool.end();
  }
}

/** `processFeed` with one `INSERT` for each update, and a commit at each page. */
export const processInserts = (load: Load): Promise<Outcome> =>
  withTable(load, (pool) =>
    measure(load, async (watch) =>
      lastValueFrom(
        processFeed(
          await feedOf(load),
          async (update, tx) => {
            await tx.query(insert, [update.offset, idOf(update)]);
            watch.add(1);
          },
          { name: 'bench', store: postgresStore({ pool }) },
        ),
      ),
    ),
  );

/** `processFeed` with one `INSERT` for each batch of a page's size. */
export const processBatches = (load: Load): Promise<Outcome> =>
  withTable(load, (pool) =>
    measure(load, async (watch) =>
      lastValueFrom(
        processFeed(
          await feedOf(load),
          async (updates: readonly Work[], tx: PoolClient) => {
            await tx.query(insertBatch, [updates.map(({ offset }) => offset), updates.map(idOf)]);
            watch.add(updates.length);
          },
          { name: 'bench', store: postgresStore({ pool }), batch: { size: pageSize, withinMs: 10 } },
        ),
      ),
    ),
  );

/** A simple consumer: reads a page with fetch, and awaits an `INSERT` for each of its updates, in one transaction. */
export const loopInserts = (load: Load): Promise<Outcome> =>
  loopTransactions(load, async (client, rows) => {
    for (const row of rows) await client.query(insert, [...row]);
  });

/** The same with one `INSERT` for a page. */
export const loopBatches = (load: Load): Promise<Outcome> =>
  loopTransactions(load, (client, rows) =>
    client.query(insertBatch, [rows.map(([offset]) => offset), rows.map(([, id]) => id)]),
  );

type Row = readonly [offset: number, updateId: string];

const loopTransactions = (
  load: Load,
  write: (client: PoolClient, rows: readonly Row[]) => Promise<unknown>,
): Promise<Outcome> =>
  withTable(load, async (pool) => {
    const client = await pool.connect();
    const outcome = await readPages(load, async (range) => {
      const page = await fetchPage(load.url, range);
      await client.query('BEGIN');
      await write(client, page.map(rowOf));
      await client.query('COMMIT');
      return page;
    });
    client.release();
    return outcome;
  });

const rowOf = ({ update }: Element): Row => {
  const value = Object.values(update)[0]?.value;
  return [value?.offset ?? NaN, value?.updateId ?? ''];
};

/** Awaited `INSERT`s in a loop, in transactions of a page's size. Reads no ledger. */
export const bareInserts = (load: Load): Promise<Outcome> =>
  withTable(load, async (pool) => {
    const client = await pool.connect();
    const outcome = await measure(load, async (watch) => {
      for (let done = 0; done < load.count; done += pageSize) {
        await client.query('BEGIN');
        for (let n = 1; n <= pageSize; n += 1) {
          await client.query(insert, [origin + done + n, `id-${done + n}`]);
          watch.add(1);
        }
        await client.query('COMMIT');
      }
    });
    client.release();
    return outcome;
  });
