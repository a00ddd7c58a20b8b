import { Session } from 'node:inspector/promises';
import { join } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { Pool } from 'pg';
import { firstValueFrom, lastValueFrom } from 'rxjs';
import type * as Core from '../../../../src/index.js';
import type * as Postgres from '../../../../src/postgres/index.js';
import type * as Process from '../../../../src/process/index.js';

/** The public flows of the library. */
export type FlowName = 'updates' | 'executeAndWaitForTransaction' | 'process';

/** What a process needs to run a flow. */
export interface FlowOrders {
  readonly flow: FlowName;
  readonly dist: string;
  readonly ledgerUrl: string;
  readonly ledgerEnd: number;
  readonly executeRequest: Core.ExecuteRequest;
  readonly databaseUrl: string;
}

/** Runs one flow of the built library, and prints the files in which it calls a function, by the engine's coverage. */
const orders = JSON.parse(process.argv[2] ?? '') as FlowOrders;
const { flow, dist, ledgerUrl, ledgerEnd, executeRequest, databaseUrl } = orders;
const load = (path: string): Promise<unknown> => import(pathToFileURL(join(dist, path)).href);
const { createLedger, acsDelta } = (await load('index.js')) as typeof Core;
const { processFeed, updatesFeed } = (await load('process/index.js')) as typeof Process;
const { postgresStore } = (await load('postgres/index.js')) as typeof Postgres;

const ledger = createLedger({ baseUrl: ledgerUrl });
const request = { beginExclusive: 0, endInclusive: ledgerEnd, updateFormat: acsDelta({ parties: 'any' }) };
const pool = new Pool({ connectionString: databaseUrl });

const flows: Readonly<Record<FlowName, () => Promise<unknown>>> = {
  updates: () => lastValueFrom(ledger.updates(request)),
  executeAndWaitForTransaction: () => firstValueFrom(ledger.executeAndWaitForTransaction(executeRequest)),
  process: () =>
    lastValueFrom(
      processFeed(updatesFeed(ledger, request), (_, transaction) => transaction.query('SELECT 1'), {
        name: 'flow',
        store: postgresStore({ pool }),
      }),
    ),
};

const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
await flows[flow]();
const { result } = await session.post('Profiler.takePreciseCoverage');
const folder = pathToFileURL(join(dist, '/')).href;
const files = result
  .filter(({ url }) => url.startsWith(folder))
  .filter(({ functions }) =>
    functions.some(({ ranges: [range] }) => range !== undefined && range.count > 0 && range.startOffset > 0),
  )
  .map(({ url }) => url.slice(folder.length));
console.log(JSON.stringify(files.sort()));
await pool.end();
