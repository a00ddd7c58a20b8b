import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Pool } from 'pg';
import { describeWithPostgres, postgresServer } from '../helpers/postgresServer.js';
import type { TestServer } from '../helpers/servers.js';
import { programs, type Programs } from './Child.js';
import { crashes } from './crashes.js';
import { flawsOfOnce, type Taken } from './flawsOf.js';
import { parameters } from './parameters.js';
import { world } from './world.js';

const commitEvery = 20;

describeWithPostgres('a table of PostgreSQL is the ledger, each update once and in order', () => {
  let server: TestServer;
  let pool: Pool;
  let children: Programs;

  beforeAll(async () => {
    children = await programs('postgres');
    server = await postgresServer();
    pool = new Pool({ connectionString: server.url });
    pool.on('error', () => undefined);
  }, 60_000);
  afterAll(async () => {
    await pool.end();
    await server.stop();
    await children.remove();
  });
  beforeEach(async () => {
    await pool.query('DROP TABLE IF EXISTS canton_rx_cursors, canton_rx_parked, seen');
    // nothing in it that would refuse a repeat
    await pool.query('CREATE TABLE seen (n bigserial, "offset" bigint, update_id text, hash text, life int)');
  });

  const taken = async (): Promise<readonly Taken[]> => {
    const { rows } = await pool.query<Omit<Taken, 'offset'> & { offset: string }>(
      'SELECT "offset"::text AS "offset", update_id AS "updateId", hash, life FROM seen ORDER BY n',
    );
    return rows.map((row) => ({ ...row, offset: Number(row.offset) }));
  };

  const one = parameters(120);
  it.each([
    ['its processor is killed at any moment', 1],
    ['two processors compete, and each is killed at any moment', 2],
  ])(
    'when %s',
    async (what, processes) => {
      const given = await world(one);
      try {
        const start = (life: number, end?: number) =>
          children.start('postgres', { ledgerUrl: given.sandbox.url, storeUrl: server.url, life, end, commitEvery });
        const { kills, phases } = await crashes({ what, processes, start }, given, one);
        expect(kills).toBe(one.kills);
        expect(flawsOfOnce(await given.entries(), await taken())).toEqual([]);
        expect([...phases.keys()]).toEqual(expect.arrayContaining(['start', 'handler']));
      } finally {
        await given.close();
      }
    },
    one.timeoutMs,
  );
});
