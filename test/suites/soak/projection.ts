import process from 'node:process';
import { Pool, type PoolClient } from 'pg';
import { filter, firstValueFrom } from 'rxjs';
import { createLedger } from '../../../src/index.js';
import { contractsProjection, postgresStore } from '../../../src/postgres/index.js';
import { contractsFeed, type ContractsWork, processFeed } from '../../../src/process/index.js';
import { undiciPort } from '../../../src/undici/index.js';
import { origin } from '../bench/ledgerText.js';
import { endChildrenAtExit } from '../bench/processes.js';
import { withPostgres } from '../bench/withPostgres.js';
import { withServer } from '../bench/withServer.js';
import { print, timeReads, topStatements } from './database.js';

/**
 * Many contracts into PostgreSQL, and then a feed of changes. All of them must be there, and the heap must not grow while the
 * contracts are written. Prints how fast that is, how large the tables are, how long reads take, and the statements of the feed.
 * `npm run soak:projection`, `npm run soak:projection -- 100000 20000`.
 */
const contracts = Number(process.argv[2] ?? 1_000_000);
const updates = Number(process.argv[3] ?? 100_000);
const mostGrowthBytes = 64 * 2 ** 20;
const complaints: string[] = [];
endChildrenAtExit();

const query = { parties: 'any' } as const;
const openLedger = (url: string) => createLedger({ baseUrl: url, port: undiciPort() });
const mebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MiB`;
const heap = (): number => {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
};
/** The time of the processor that this process has used, in microseconds. A busy machine makes little difference to it. */
const cpu = (): number => {
  const { user, system } = process.cpuUsage();
  return user + system;
};
const microseconds = (all: number): string => (all / contracts).toFixed(1);
const seconds = (since: number): string => ((performance.now() - since) / 1_000).toFixed(1);
const rate = (count: number, since: number): string => ((count * 1_000) / (performance.now() - since)).toFixed(0);

/** Loads all contracts, and prints the progress. */
async function load(pool: Pool, url: string): Promise<void> {
  const project = contractsProjection({ pool, query });
  const every = Math.max(1, Math.floor(contracts / 10));
  let [loaded, shown] = [0, 0];
  const heaps: number[] = [];
  const startedAt = performance.now();
  let [readAt, readUsage] = [NaN, NaN];
  const show = (): void => {
    if (loaded < shown) return;
    heaps.push(heap());
    shown += every;
    const speed = loaded === 0 ? `the snapshot was read in ${seconds(startedAt)} s` : `${rate(loaded, readAt)}/s`;
    print(`${loaded} contracts, ${speed}, heap ${mebibytes(heaps.at(-1) ?? NaN)}`);
  };
  const handler = (work: ContractsWork, tx: PoolClient): unknown => {
    if (work._tag === 'ResetBatch') {
      show();
      if (work.isFirst) [readAt, readUsage] = [performance.now(), cpu()];
      loaded += work.contracts.length;
    }
    return project(work, tx);
  };
  const feed = contractsFeed(openLedger(url), query, { batchSize: 2_000 });
  const committed$ = processFeed(feed, handler, { name: 'soak', store: postgresStore({ pool }) });
  await firstValueFrom(committed$.pipe(filter(({ offset }) => offset > 0)));
  print(`written in ${seconds(readAt)} s, ${rate(contracts, readAt)} contracts/s`);
  print(`read and written in ${seconds(startedAt)} s, ${rate(contracts, startedAt)} contracts/s`);
  print(
    `${microseconds(readUsage)} us of the processor for reading a contract, ${microseconds(cpu() - readUsage)} us for writing it`,
  );
  print(`at most ${mebibytes(process.resourceUsage().maxRSS * 1_024)} of memory in the process`);
  const [first = 0, ...others] = heaps;
  if (Math.max(...others) - first > mostGrowthBytes) complaints.push('the heap grew while contracts were written');
}

/** A feed of changes into a schema of its own. */
async function follow(pool: Pool, url: string): Promise<void> {
  const project = contractsProjection({ pool, query, schema: 'changes' });
  const feed = contractsFeed(openLedger(url), query);
  const startedAt = performance.now();
  const committed$ = processFeed(feed, project, {
    name: 'changes',
    store: postgresStore({ pool }),
    batch: { size: 200, withinMs: 10 },
  });
  await firstValueFrom(committed$.pipe(filter(({ offset }) => offset >= origin + updates)));
  print(`${updates} updates in batches of 200 in ${seconds(startedAt)} s, ${rate(updates, startedAt)}/s`);
  const { rows } = await pool.query<{ count: string }>("SELECT count(*) FROM changes.creates('')");
  if (Number(rows[0]?.count) !== updates)
    complaints.push(`${rows[0]?.count ?? ''} of ${updates} contracts were created`);
}

async function checkSize(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ count: string; size: string; indexes: string }>(
    `SELECT (SELECT count(*) FROM contracts.active('')) AS count,
      sum(pg_table_size(oid)) AS size, sum(pg_indexes_size(oid)) AS indexes
      FROM pg_class WHERE relkind = 'r' AND relnamespace = 'contracts'::regnamespace`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('no sizes');
  const { count, size, indexes } = row;
  print(`${count} contracts, tables ${mebibytes(Number(size))}, indexes ${mebibytes(Number(indexes))}`);
  if (Number(count) !== contracts) complaints.push(`${count} of ${contracts} contracts are there`);
}

// with the statements of functions
const settings = { shared_preload_libraries: 'pg_stat_statements', 'pg_stat_statements.track': 'all' };
await withPostgres(async (databaseUrl) => {
  const pool = new Pool({ connectionString: databaseUrl });
  try {
    await pool.query('CREATE EXTENSION pg_stat_statements');
    await withServer({ kind: 'contract', count: contracts, step: 1, roundTripMs: 0 }, ({ url }) => load(pool, url));
    print(await topStatements(pool, 'the snapshot'));
    await checkSize(pool);
    await timeReads(pool, 'Splice.Amulet:Asset1');
    await pool.query('SELECT pg_stat_statements_reset()');
    await withServer({ kind: 'change', count: updates, step: 1, roundTripMs: 0 }, ({ url }) => follow(pool, url));
    print(await topStatements(pool, 'the feed'));
  } finally {
    await pool.end();
  }
}, settings);
print(complaints.length === 0 ? 'all contracts are there, and the heap is flat' : complaints.join('\n'));
process.exitCode = complaints.length === 0 ? 0 : 1;
