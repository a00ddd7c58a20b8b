import { readFile } from 'node:fs/promises';
import { beforeEach, expect, it } from '@jest/globals';
import { Pool } from 'pg';
import { firstValueFrom, lastValueFrom, takeWhile, toArray } from 'rxjs';
import { createLedger, type Ledger } from '../../src/index.js';
import type { AnyContract } from '../../src/contracts/Contract.js';
import { contractChanges, type ContractQuery } from '../../src/contracts/index.js';
import {
  contractsProjection,
  type ContractsProjectionOptions,
  migrateProjection,
  postgresStore,
  projectionTables,
} from '../../src/postgres/index.js';
import { contractsFeed, processFeed, type ProcessOptions } from '../../src/process/index.js';
import type { Sandbox } from '../../src/sandbox/index.js';
import { sandboxes } from '../helpers/localServers.js';
import { describeWithPostgres } from '../helpers/postgresServer.js';
import { batchesOf, write } from './projectionWorks.js';
import { withDatabase } from './support.js';

const sandbox = sandboxes();

describeWithPostgres('contractsProjection', () => {
  const database = withDatabase();
  beforeEach(async () => {
    await database.pool.query('DROP SCHEMA IF EXISTS contracts, other, "order" CASCADE; DROP ROLE IF EXISTS reader');
  });

  const world = async (updates: number): Promise<{ readonly service: Sandbox; readonly ledger: Ledger }> => {
    const service = await sandbox();
    service.generate(updates, { seed: 5 });
    return { service, ledger: createLedger({ baseUrl: service.url, retry: { baseDelayMs: 5, maxDelayMs: 50 } }) };
  };
  const query = { parties: 'any' } as const satisfies ContractQuery;
  /** Runs a processor until it has caught up. */
  const project = async (
    ledger: Ledger,
    more: Partial<ContractsProjectionOptions> & { readonly store?: string; readonly batchSize?: number } = {},
    how: Pick<ProcessOptions, 'commitEvery' | 'handlerRetry'> = {},
  ): Promise<void> => {
    const { pool } = database;
    const { store = 'public', batchSize = 40, ...options } = more;
    const handler = contractsProjection({ pool, query, ...options });
    const feed = contractsFeed(ledger, { ...query, includeExercises: options.query?.includeExercises }, { batchSize });
    const processor = { name: "the contracts' processor", store: postgresStore({ pool, schema: store }), ...how };
    await lastValueFrom(processFeed(feed, handler, processor).pipe(takeWhile(({ isCaughtUp }) => !isCaughtUp)), {
      defaultValue: undefined,
    });
  };
  const read = async (sql: string, values: readonly unknown[] = []) =>
    (await database.pool.query<Record<string, unknown>>(sql, [...values])).rows;
  /** The first column of a single row. */
  const value = async (sql: string, values: readonly unknown[] = []): Promise<unknown> =>
    Object.values((await read(sql, values))[0] ?? {})[0];

  /** The contracts of a ledger as a client reads them. */
  const contractsOf = async (ledger: Ledger): Promise<readonly AnyContract[]> => {
    const reset = await firstValueFrom(contractChanges(ledger, query));
    if (reset._tag !== 'Reset') throw new Error('no reset');
    return reset.contracts.toSorted((a, b) => (a.contractId < b.contractId ? -1 : 1));
  };
  const checkActive = async (ledger: Ledger, schema = 'contracts'): Promise<void> => {
    const rows =
      await read(`SELECT contract_id, payload, template_fqn, package_name, package_id, type_name, signatories,
      observers, witnesses, synchronizer_id, in_flight_to, reassignment_counter::int AS counter, payload_type,
      to_char(created_effective_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS created_effective_at
      FROM ${schema}.active() ORDER BY contract_id COLLATE "C"`);
    const expected = (await contractsOf(ledger)).map(({ location, createdEvent, reassignmentCounter }) => {
      const [packageId, ...rest] = createdEvent.templateId.split(':');
      const fqn = [createdEvent.packageName, ...rest].join(':');
      return {
        contract_id: createdEvent.contractId,
        payload: createdEvent.createArgument,
        payload_type: 'template',
        template_fqn: fqn,
        package_name: createdEvent.packageName,
        package_id: packageId,
        type_name: `#${fqn}`,
        signatories: createdEvent.signatories,
        observers: createdEvent.observers,
        witnesses: createdEvent.witnessParties,
        synchronizer_id: 'inFlight' in location ? location.inFlight.source : location.synchronizerId,
        in_flight_to: 'inFlight' in location ? location.inFlight.target : null,
        counter: reassignmentCounter,
        created_effective_at: createdEvent.createdAt.replace(
          /(\.\d*)?Z$/,
          (_, digits = '.') => `${String(digits).padEnd(7, '0')}Z`,
        ),
      };
    });
    expect(rows).toEqual(expected);
  };

  it('has the contracts of the ledger after each run, also when it was pruned or restored meanwhile', async () => {
    const { service, ledger } = await world(300);
    await project(ledger);
    await checkActive(ledger);
    service.generate(200, { seed: 6 });
    await project(ledger, {}, { commitEvery: { updates: 7 } });
    await checkActive(ledger);
    const before = await read('SELECT contract_id FROM contracts.archives()');

    const gapAfter = Number(await value('SELECT contracts.latest_offset()'));
    service.generate(200, { seed: 7 });
    service.prune(service.ledgerEnd - 3);
    await project(ledger);
    await checkActive(ledger);
    const after = await read('SELECT contract_id, archived_in_gap FROM contracts.archives()');
    expect(after.filter((row) => row['archived_in_gap'] === false)).toHaveLength(before.length);
    expect(after.length).toBeGreaterThan(before.length);
    await expect(read('SELECT FROM contracts.active(NULL, $1)', [gapAfter + 1])).rejects.toThrow(/is in a gap/);

    // an older backup, and another history
    service.restore(service.ledgerEnd - 20);
    service.generate(60, { seed: 8 });
    await project(ledger);
    await checkActive(ledger);
    expect(await read('SELECT FROM contracts.archives()')).toEqual([]);
    expect(await value('SELECT contracts.oldest_offset()')).toBe(await value('SELECT contracts.latest_offset()'));
  });

  it('has the exercises of the changes, if the query asks for them', async () => {
    const { service, ledger } = await world(20);
    const withExercises = { query: { ...query, includeExercises: true } };
    await project(ledger, withExercises);
    const begin = service.ledgerEnd;
    service.generate(200, { seed: 9 });
    await project(ledger, withExercises);
    await checkActive(ledger);
    const changes = await lastValueFrom(
      contractChanges(ledger, withExercises.query, { resumeFrom: begin }).pipe(
        takeWhile(({ _tag }) => _tag !== 'CaughtUp'),
        toArray(),
      ),
    );
    const updates = changes.flatMap((change) => (change._tag === 'ContractsChanged' ? [change.update] : []));
    const expected = updates.flatMap(({ events }) => events.filter((event) => event._tag === 'ExercisedEvent'));
    const rows = await read('SELECT * FROM contracts.exercises() ORDER BY exercise_event_id');
    expect(expected.length).toBeGreaterThan(10);
    expect(
      rows.map(({ contract_id, choice, argument, result, controllers, consuming, last_descendant_node_id }) => ({
        ...{ contract_id, choice, argument, result, controllers, consuming, last_descendant_node_id },
      })),
    ).toEqual(
      expected.map((event) => ({
        contract_id: event.contractId,
        choice: event.choice,
        argument: event.choiceArgument ?? null,
        result: event.exerciseResult ?? null,
        controllers: event.actingParties,
        consuming: event.consuming,
        last_descendant_node_id: event.lastDescendantNodeId,
      })),
    );
    const [first] = await read('SELECT * FROM contracts.exercises() ORDER BY exercise_event_id LIMIT 1');
    const named = `${String(first?.['template_fqn'])}:${String(first?.['choice'])}`;
    expect(await read('SELECT FROM contracts.exercises($1)', [named])).not.toEqual([]);
    expect(await read('SELECT * FROM contracts.lookup_exercises($1) LIMIT 1', [first?.['contract_id']])).toEqual([
      first,
    ]);
    const counted = await value('SELECT sum(count) FROM contracts.summary_exercises()');
    expect(counted).toBe(await value('SELECT count(*) FROM contracts.exercises()'));
    await expect(read(`SELECT FROM contracts.exercises('Dance')`)).rejects.toThrow('no choice is called "Dance"');
  });

  it('tells how far the processor is, also where no contract changes', async () => {
    const { service, ledger } = await world(50);
    await database.pool.query('CREATE SCHEMA other');
    await project(ledger, { store: 'other' });
    expect(await value('SELECT contracts.latest_offset()')).toBe(String(service.ledgerEnd));
    const mine = service.ledgerEnd + 5;
    await expect(read('SELECT contracts.validate_offset_exists($1)', [mine])).rejects.toThrow(
      `offset ${mine} is not reached`,
    );
    service.generate(1, { seed: 10 });
    await project(ledger, { store: 'other' });
    service.advance(10);
    await project(ledger, { store: 'other' });
    expect(Number(await value('SELECT contracts.validate_offset_exists($1)', [mine]))).toBe(mine);

    // a reader without rights on the store's tables still learns of changes
    await database.pool.query(`CREATE ROLE reader; GRANT USAGE ON SCHEMA contracts TO reader;
      GRANT SELECT ON ALL TABLES IN SCHEMA contracts TO reader`);
    const client = await database.pool.connect();
    const sql = 'SELECT contracts.latest_offset() AS at, count(*) AS n FROM contracts.active()';
    const [, { rows }] = (await client.query(`SET ROLE reader; ${sql}`).finally(() => {
      client.release(true);
    })) as unknown as readonly [unknown, { readonly rows: readonly { at: string; n: string }[] }];
    await database.pool.query('DROP OWNED BY reader');
    expect(Number(rows[0]?.at)).toBeLessThanOrEqual(mine);
    expect(Number(rows[0]?.n)).toBeGreaterThan(0);
  });

  it('shows readers whole transactions, and the old contracts until the new ones are whole', async () => {
    const { service, ledger } = await world(250);
    const counts = new Map<number, number>();
    const { pool } = database;
    await project(ledger, { batchSize: 10 });
    const seen: { at: number; n: number }[] = [];
    const over = new AbortController();
    const reading = (async () => {
      while (!over.signal.aborted) {
        const [row] = await read(
          'SELECT (SELECT latest_offset FROM contracts.projection_state) AS at, count(*) AS n FROM contracts.active()',
        );
        seen.push({ at: Number(row?.['at']), n: Number(row?.['n']) });
      }
    })();
    for (const seed of [11, 12, 13]) {
      service.generate(100, { seed });
      if (seed === 12) service.prune(service.ledgerEnd - 2);
      if (seed === 13) service.restore(service.ledgerEnd - 30);
      await project(ledger, { batchSize: 10 }, { commitEvery: { updates: 3 } });
      const rows = await read(
        'SELECT o AS at, (SELECT count(*) FROM contracts.active(NULL, o)) AS n FROM (SELECT "offset" AS o FROM contracts.transactions UNION SELECT contracts.oldest_offset() UNION SELECT contracts.latest_offset()) AS offsets WHERE o >= contracts.oldest_offset()',
      );
      for (const row of rows) counts.set(Number(row['at']) * 100 + seed, Number(row['n']));
    }
    over.abort();
    await reading;
    expect(pool.totalCount).toBeGreaterThan(1);
    const known = (at: number): readonly (number | undefined)[] =>
      [11, 12, 13].map((seed) => counts.get(at * 100 + seed));
    expect(seen.filter(({ at, n }) => !known(at).includes(n))).toEqual([]);
    expect(new Set(seen.map(({ at }) => at)).size).toBeGreaterThan(5);
  });

  it('ends where another processor has written into its schema', async () => {
    const { service, ledger } = await world(50);
    await project(ledger);
    await database.pool.query('UPDATE contracts.projection_state SET latest_offset = latest_offset + 1000');
    service.generate(20, { seed: 14 });
    await expect(project(ledger, {}, { handlerRetry: { giveUpAfterMs: 0 } })).rejects.toThrow(
      /does not end before offset \d+: another processor writes it/,
    );
  });

  it('uses tables that a migration has made, and refuses others', async () => {
    const { ledger } = await world(30);
    const how = { handlerRetry: { giveUpAfterMs: 0 } };
    await expect(project(ledger, { createTables: false }, how)).rejects.toThrow(
      'the tables of the projection are missing',
    );
    await database.pool.query(projectionTables('order'));
    await database.pool.query(projectionTables('order'));
    await project(ledger, { createTables: false, schema: 'order' });
    await checkActive(ledger, '"order"');
    await database.pool.query('INSERT INTO "order".projection_versions (version) VALUES (99)');
    await expect(lastValueFrom(migrateProjection({ pool: database.pool, schema: 'order' }))).rejects.toThrow(
      'of version 99',
    );
    for (const schema of ['Contracts', 'a.b', 'x"; DROP TABLE y; --', '', 'ä', 'a'.repeat(64)])
      expect(() => contractsProjection({ pool: database.pool, query, schema })).toThrow(TypeError);
  });

  it('upgrades tables of the version before, which keep what is in them', async () => {
    const { service, ledger } = await world(80);
    await database.pool.query(await readFile(new URL('projectionVersion1.sql', import.meta.url), 'utf8'));
    expect(await value('SELECT max(version) FROM contracts.projection_versions')).toBe(1);
    const contracts = await contractsOf(ledger);
    await database.pool.query(`INSERT INTO contracts.projection_templates
      (payload_type, template_id, template_fqn, module, entity, package_id)
      VALUES ('template', 'p:Main:Old', 'old:Main:Old', 'Main', 'Old', 'p')`);
    await database.pool.query(`INSERT INTO contracts.projection_contracts
      (generation, template_pk, created_at_offset, created_node_id, created_effective_at, reassignment_counter, contract_id,
      signatories, observers, witnesses, payload)
      VALUES (1, 1, 3, 0, now(), 0, '00old', '{}', '{}', '{}', '{"a": 1}')`);
    await database.pool.query(`UPDATE contracts.projection_state SET generation = 1, visible = '{1}', latest_offset = 5,
      oldest_offset = 2`);
    const old = await read('SELECT * FROM contracts.active()');
    expect(old).toHaveLength(1);
    const upgrades = await Promise.all([1, 2, 3].map(() => lastValueFrom(migrateProjection({ pool: database.pool }))));
    expect(upgrades).toEqual([1, 2, 3].map(() => ({ version: 2 })));
    expect(await read('SELECT * FROM contracts.active()')).toEqual(old);
    expect(await read('SELECT * FROM contracts.exercises()')).toEqual([]);
    // and it can be written
    const handler = contractsProjection({ pool: database.pool, query });
    await write(database.pool, handler, batchesOf('pruned', service.ledgerEnd, contracts));
    expect(await read(`SELECT contract_id, archived_in_gap FROM contracts.archives('Main:Old')`)).toEqual([
      { contract_id: '00old', archived_in_gap: true },
    ]);
    await checkActive(ledger);
    expect(await value('SELECT contracts.set_latest(NULL)')).toBe(await value('SELECT contracts.latest_offset()'));
  });

  it('is migrated by several at once, whatever the isolation, and without the right to create schemas', async () => {
    const { pool } = database;
    const pools = [1, 2, 3].map(
      () =>
        new Pool({
          connectionString: database.server.url,
          options: String.raw`-c default_transaction_isolation=repeatable\ read`,
        }),
    );
    const versions = await Promise.all(pools.map((each) => lastValueFrom(migrateProjection({ pool: each }))));
    expect(versions.map(({ version }) => version)).toEqual([2, 2, 2]);
    await pool.query('CREATE ROLE reader LOGIN; CREATE SCHEMA other; GRANT USAGE, CREATE ON SCHEMA other TO reader');
    const owner = new Pool({ connectionString: database.server.url.replace('postgres@', 'reader@') });
    expect(await lastValueFrom(migrateProjection({ pool: owner, schema: 'other' }))).toEqual({ version: 2 });
    await Promise.all([...pools, owner].map((each) => each.end()));
    await pool.query('DROP OWNED BY reader');
  });
});
