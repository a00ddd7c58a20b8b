import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { jetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { Pool } from 'pg';
import { UpdateElement } from '../../../src/codecs/Update.js';
import { describeWithNats, natsServer } from '../../helpers/natsServer.js';
import { hasPostgres, postgresServer } from '../../helpers/postgresServer.js';
import type { TestServer } from '../../helpers/servers.js';
import { bundlePrograms, type Programs } from './Child.js';
import { hashOf, idOf } from './children/marks.js';
import { parameters, print, runWithCrashes } from './crashes.js';
import { findFlaws, findFlawsWithRepeats, readNotes } from './flaws.js';
import { type Entry, world } from './world.js';

const commitEvery = 20;
const many = parameters(40, 6);
const hundred = parameters(100, 8);

describeWithNats('a stream of JetStream', () => {
  let server: TestServer;
  let children: Programs;
  let folder: string;
  let entries: readonly Entry[] | undefined;

  beforeAll(async () => {
    children = await bundlePrograms('relay', 'reader', 'natsPostgres');
    server = await natsServer();
    folder = await mkdtemp(join(tmpdir(), 'canton-rx-crash-'));
  });
  afterAll(async () => {
    await children.remove();
    await server.stop();
    await rm(folder, { recursive: true });
  });

  /** Reads the stream, and checks its sequence numbers. */
  const readStream = async (): Promise<readonly Entry[]> => {
    const connection = await connect({ servers: server.url });
    try {
      const stream = await jetstream(connection).streams.get('ledger');
      const { state } = await stream.info();
      const taken: Entry[] = [];
      const consumer = await stream.getConsumer();
      for await (const message of await consumer.consume({ max_messages: 500 })) {
        const result = UpdateElement.decode(message.json());
        if (result._tag === 'Left' || result.right._tag === 'OffsetCheckpoint') throw new Error('not an update');
        taken.push({ offset: result.right.offset, updateId: idOf(result.right), hash: hashOf(result.right) });
        expect(message.seq).toBe(taken.length);
        if (message.seq === state.last_seq) break;
      }
      return taken;
    } finally {
      await connection.close();
    }
  };

  it(
    'has each update of the ledger once and in order, when its relay and its server are killed at any moment (G52)',
    async () => {
      const given = await world(many);
      try {
        const start = (life: number, end?: number) =>
          children.start('relay', { ledgerUrl: given.sandbox.url, storeUrl: server.url, life, end, commitEvery });
        const { kills } = await runWithCrashes({ what: 'a relay', start, server }, given, many);
        expect(kills).toBe(many.kills);
        entries = await given.entries();
        expect(findFlaws(entries, await readStream())).toEqual([]);
      } finally {
        await given.close();
      }
    },
    many.timeoutMs,
  );

  /** What all readers read. */
  const readerOrders = () => {
    const last = entries?.at(-1)?.offset ?? 0;
    return { ledgerUrl: '', storeUrl: server.url, last };
  };
  const source = () => ({ grow: () => undefined, end: () => readerOrders().last });

  it.each([commitEvery, 1])(
    'is read in order and at least once, with one commit of %s repeated at most, when a reader is killed at any moment (G56)',
    async (every) => {
      const all = entries ?? [];
      expect(all).toHaveLength(many.updates);
      const notes = join(folder, `notes${every}`);
      const start = (life: number, end?: number) =>
        children.start('reader', { ...readerOrders(), notes, life, end, commitEvery: every });
      const subject = { what: 'a reader', start, server };
      const { kills, phases } = await runWithCrashes(subject, source(), many);
      // otherwise they had nothing left to read
      expect(phases.get('start') ?? 0).toBeLessThan(kills);
      const { flaws, ...repeats } = findFlawsWithRepeats(all, await readNotes(notes), every);
      print(`a reader: ${JSON.stringify(repeats)}`);
      expect(flaws).toEqual([]);
    },
    many.timeoutMs,
  );

  it(
    'is read once and in order into a table of PostgreSQL, when a reader and the servers are killed at any moment (G56)',
    async () => {
      if (!hasPostgres) {
        print('PostgreSQL is not installed: not tried');
        return;
      }
      const all = entries ?? [];
      const database = await postgresServer();
      const pool = new Pool({ connectionString: database.url });
      try {
        // without a constraint that would reject a repeated update
        await pool.query('CREATE TABLE seen (n bigserial, "offset" bigint, update_id text, hash text, life int)');
        const start = (life: number, end?: number) =>
          children.start('natsPostgres', { ...readerOrders(), databaseUrl: database.url, life, end, commitEvery });
        const subject = { what: 'a reader into PostgreSQL', start, server };
        const { kills } = await runWithCrashes(subject, source(), { ...hundred, updates: many.updates });
        expect(kills).toBe(hundred.kills);
        const { rows } = await pool.query<Entry>(
          'SELECT "offset"::int AS "offset", update_id AS "updateId", hash FROM seen ORDER BY n',
        );
        expect(findFlaws(all, rows)).toEqual([]);
      } finally {
        await pool.end();
        await database.stop();
      }
    },
    hundred.timeoutMs,
  );
});
