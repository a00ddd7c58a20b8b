import { beforeEach, expect, it, jest } from '@jest/globals';
import { Pool } from 'pg';
import { EMPTY, filter, firstValueFrom, lastValueFrom, takeWhile, toArray } from 'rxjs';
import { createLedger, type Ledger } from '../../src/index.js';
import type { AnyContract } from '../../src/contracts/Contract.js';
import { contractChanges, type ContractQuery } from '../../src/contracts/index.js';
import {
  contractsProjection,
  type ContractsProjectionOptions,
  migrateProjection,
  postgresStore,
  projectionSql,
} from '../../src/postgres/index.js';
import { type Committed, contractsFeed, processFeed, type ProcessOptions } from '../../src/process/index.js';
import type { Sandbox } from '../../src/sandbox/index.js';
import { sandboxes } from '../helpers/localServers.js';
import { describeWithPostgres } from '../helpers/postgresServer.js';
import { batchesOf } from './projectionWorks.js';
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
    isDone = ({ isCaughtUp }: Committed): boolean => isCaughtUp,
  ): Promise<void> => {
    const { pool } = database;
    const { store = 'public', batchSize = 40, ...options } = more;
    const handler = contractsProjection({ pool, query, ...options });
    const feed = contractsFeed(ledger, { ...query, includeExercises: options.query?.includeExercises }, { batchSize });
    const processor = { name: "the contracts' processor", store: postgresStore({ pool, schema: store }), ...how };
    await lastValueFrom(processFeed(feed, handler, processor).pipe(takeWhile((committed) => !isDone(committed))), {
      defaultValue: undefined,
    });
  };
  const { read } = database;
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

  it.each(['READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE'] as const)(
    'is created by a handler that has no prepare, in transactions that are %s (G41)',
    async (isolation) => {
      const { ledger } = await world(40);
      const { pool } = database;
      const projection = contractsProjection({ pool, query });
      // as in a handler that does more
      const handler: typeof projection = Object.assign(
        (...args: Parameters<typeof projection>) => projection(...args),
        {
          prepare: () => EMPTY,
        },
      );
      const store = postgresStore({ pool, isolation });
      const processed$ = processFeed(contractsFeed(ledger, query, { batchSize: 40 }), handler, { name: 'p', store });
      await firstValueFrom(processed$.pipe(filter(({ isCaughtUp }) => isCaughtUp)));
      await checkActive(ledger);
    },
  );

  it('has the contracts of the ledger after each run, also when it was pruned or restored meanwhile (G49)', async () => {
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

  it('keeps its history, with a gap, if whatever could show its last update is pruned', async () => {
    const { service, ledger } = await world(300);
    await project(ledger);
    service.generate(200, { seed: 6 });
    await project(ledger);
    const ended = await read('SELECT contract_id FROM contracts.archives() ORDER BY 1');
    expect(ended).not.toEqual([]);
    service.restore(service.ledgerEnd - 20);
    service.prune(service.ledgerEnd);
    service.generate(60, { seed: 8 });
    const gaps: unknown[] = [];
    ledger.diagnostics$.pipe(filter(({ _tag }) => _tag === 'GapFound')).subscribe((gap) => gaps.push(gap));
    await project(ledger);
    expect(gaps).toEqual([expect.objectContaining({ cause: expect.objectContaining({ _tag: 'PrunedError' }) })]);
    await checkActive(ledger);
    expect(await read('SELECT contract_id FROM contracts.archives() WHERE NOT archived_in_gap ORDER BY 1')).toEqual(
      ended,
    );
  });

  it('ends at once if whatever could show its last update is pruned, and the participant does not report its ID', async () => {
    const { service } = await world(100);
    service.fault({ kind: 'status', status: 404 }, { path: '/v2/parties/participant-id', times: 1e6 });
    const ledger = createLedger({ baseUrl: service.url, retry: { giveUpAfterMs: 600_000 } });
    await project(ledger);
    service.restore(service.ledgerEnd - 20);
    service.prune(service.ledgerEnd);
    service.generate(60, { seed: 8 });
    await expect(project(ledger)).rejects.toMatchObject({ _tag: 'PrunedError' });
  });

  /** A ledger that was pruned beyond the projection, whose processor ended after the first batch of the reload. */
  const interruptedReload = async () => {
    const { service, ledger } = await world(300);
    await project(ledger);
    service.generate(200, { seed: 6 });
    await project(ledger);
    const end = service.ledgerEnd;
    const ended = await read('SELECT contract_id FROM contracts.archives() ORDER BY 1');
    service.generate(200, { seed: 7 });
    service.prune(service.ledgerEnd - 3);
    await project(ledger, { batchSize: 5 }, { commitEvery: { updates: 1 } }, ({ handled }) => handled > 0);
    expect(await value('SELECT loading IS NOT NULL FROM contracts.projection_state')).toBe(true);
    return { service, ledger, end, ended };
  };

  it('keeps its history if a replica lags after a crash during the reload that follows pruning', async () => {
    const { service, ended } = await interruptedReload();
    const replica = await sandbox();
    replica.generate(300, { seed: 5 });
    let requests = 0;
    const ledger = createLedger({
      baseUrl: service.url,
      retry: { baseDelayMs: 5, maxDelayMs: 20 },
      fetch: (input, init) => {
        const url = input instanceof Request ? input.url : String(input);
        const isLagging = !url.includes('participant-id') && (requests += 1) <= 4;
        const to = isLagging ? url.replace(service.url, replica.url) : url;
        return fetch(input instanceof Request ? new Request(to, input) : to, init);
      },
    });
    await project(ledger);
    expect(requests).toBeGreaterThan(4);
    await checkActive(ledger);
    expect(await read('SELECT contract_id FROM contracts.archives() WHERE NOT archived_in_gap ORDER BY 1')).toEqual(
      ended,
    );
  });

  it('has nothing of a ledger that was restored after a crash during the reload, and has grown since', async () => {
    const { service, ledger, end } = await interruptedReload();
    service.restore(end - 30);
    service.generate(400, { seed: 8 });
    await project(ledger);
    await checkActive(ledger);
    expect(await read('SELECT FROM contracts.archives()')).toEqual([]);
    expect(await value('SELECT contracts.oldest_offset()')).toBe(await value('SELECT contracts.latest_offset()'));
  });

  it('reports how many rows it removes, if the ledger was restored', async () => {
    const { service, ledger } = await world(100);
    const exercises = { query: { ...query, includeExercises: true } };
    await project(ledger, exercises);
    service.generate(60, { seed: 6 });
    await project(ledger, exercises);
    const count = async (rows: string): Promise<number> =>
      Number(await value(`SELECT count(*) FROM contracts.${rows}`));
    const removed = {
      contracts: await count('creates()'),
      exercises: await count('exercises()'),
      updates: await count('transactions'),
    };
    expect(removed.exercises).toBeGreaterThan(0);
    service.restore(service.ledgerEnd - 40);
    service.generate(80, { seed: 8 });
    const reports: unknown[] = [];
    ledger.diagnostics$.pipe(filter(({ _tag }) => _tag === 'RowsReplaced')).subscribe((report) => reports.push(report));
    await project(ledger, exercises);
    expect(reports).toEqual([
      expect.objectContaining({ ...removed, reason: 'ledgerReset', schema: 'contracts', offset: service.ledgerEnd }),
    ]);
    await checkActive(ledger);
  });

  it("keeps all rows and ends if the ledger was restored and onReplaced is 'fail', until it is 'reload'", async () => {
    const { service, ledger } = await world(100);
    await project(ledger, { onReplaced: 'fail' });
    service.generate(60, { seed: 6 });
    await project(ledger, { onReplaced: 'fail' });
    const rows = await read('SELECT * FROM contracts.creates() ORDER BY contract_id');
    service.restore(service.ledgerEnd - 40);
    service.generate(80, { seed: 8 });
    for (const batchSize of [10, Infinity]) {
      const error = await project(ledger, { onReplaced: 'fail', batchSize }).catch((cause: unknown) => cause);
      expect(error).toMatchObject({
        _tag: 'CursorError',
        reason: 'ledger',
        message: expect.stringContaining(`the schema contracts has ${rows.length} contracts`),
      });
      expect(await read('SELECT * FROM contracts.creates() ORDER BY contract_id')).toEqual(rows);
    }
    await project(ledger);
    await checkActive(ledger);
    for (const onDeselected of ['remove', null])
      expect(() => contractsProjection({ pool: database.pool, query, onDeselected } as never)).toThrow(TypeError);
    for (const onReplaced of ['keep', null])
      expect(() => contractsProjection({ pool: database.pool, query, onReplaced } as never)).toThrow(TypeError);
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
    const updates = changes.flatMap((change) =>
      change._tag === 'ContractsChanged' && change.reason === undefined ? [change.update] : [],
    );
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

  it('refuses a pool that has no connection for it beside that of its processor', async () => {
    const single = new Pool({ connectionString: database.server.url, max: 1 });
    expect(() => contractsProjection({ pool: single, query })).toThrow(
      new TypeError(
        'pool must allow at least 2 connections: the processor holds one, and the projection needs another',
      ),
    );
    await single.end();
  });

  it('names the cause if all connections of its pool are in use', async () => {
    const pool = new Pool({ connectionString: database.server.url, max: 2 });
    const [tx, other] = [await pool.connect(), await pool.connect()];
    const handler = contractsProjection({ pool, query });
    jest.useFakeTimers();
    try {
      const written = expect(lastValueFrom(handler(batchesOf('start', 1, []), tx))).rejects.toThrow(
        'no connection of the pool became free within 30 s',
      );
      await jest.advanceTimersByTimeAsync(30_000);
      await written;
    } finally {
      jest.useRealTimers();
      for (const client of [tx, other]) client.release();
      await pool.end();
    }
  });

  it('uses tables that a migration has made, and refuses others', async () => {
    const { service, ledger } = await world(30);
    const how = { handlerRetry: { giveUpAfterMs: 0 } };
    await expect(project(ledger, { createTables: false }, how)).rejects.toThrow(
      'the tables of the projection are missing',
    );
    await database.pool.query(projectionSql('order'));
    await database.pool.query(projectionSql('order'));
    await project(ledger, { createTables: false, schema: 'order' });
    await checkActive(ledger, '"order"');
    await database.pool.query('INSERT INTO "order".projection_versions (version) VALUES (99)');
    const ofOthers = 'the tables of the projection are of version 99, but this release knows version 1';
    await expect(lastValueFrom(migrateProjection({ pool: database.pool, schema: 'order' }))).rejects.toThrow(ofOthers);
    await expect(database.pool.query(projectionSql('order'))).rejects.toThrow(ofOthers);
    service.generate(5, { seed: 6 });
    await expect(project(ledger, { createTables: false, schema: 'order' }, how)).rejects.toThrow(ofOthers);
    for (const schema of ['Contracts', 'a.b', 'x"; DROP TABLE y; --', '', 'ä', 'a'.repeat(64)])
      expect(() => contractsProjection({ pool: database.pool, query, schema })).toThrow(TypeError);
  });

  it('has its functions replaced when it is migrated again, and keeps its rows, rights and dates', async () => {
    const { ledger } = await world(30);
    const { pool, read } = database;
    await project(ledger);
    await pool.query('CREATE ROLE analyst LOGIN');
    await pool.query(
      'GRANT USAGE ON SCHEMA contracts TO analyst; GRANT SELECT ON ALL TABLES IN SCHEMA contracts TO analyst',
    );
    await pool.query(`REVOKE ALL ON FUNCTION contracts.latest_offset() FROM PUBLIC;
      GRANT EXECUTE ON FUNCTION contracts.latest_offset() TO analyst`);
    const state = () =>
      read(`SELECT p.proname, p.prosrc, p.proacl::text, pg_get_function_arguments(p.oid) AS arguments,
        (SELECT count(*)::int FROM contracts.projection_contracts) AS rows,
        (SELECT max(migrated_at) FROM contracts.projection_versions) AS migrated
        FROM pg_proc p WHERE p.pronamespace = 'contracts'::regnamespace ORDER BY 1, 4`);
    const before = await state();
    expect(await lastValueFrom(migrateProjection({ pool }))).toEqual({ version: 1 });
    expect(await state()).toEqual(before);
    await pool.query(
      `CREATE OR REPLACE FUNCTION contracts.latest_offset() RETURNS bigint LANGUAGE sql STABLE AS 'SELECT 99::bigint'`,
    );
    expect(await state()).not.toEqual(before);
    expect(await lastValueFrom(migrateProjection({ pool }))).toEqual({ version: 1 });
    expect(await state()).toEqual(before);
    // a processor that is not their owner starts nevertheless
    await pool.query(
      'GRANT ALL ON ALL TABLES IN SCHEMA contracts TO analyst; GRANT CREATE ON SCHEMA public TO analyst',
    );
    const writer = new Pool({ connectionString: database.server.url.replace('postgres@', 'analyst@') });
    await lastValueFrom(contractsProjection({ pool: writer, query }).prepare());
    await expect(lastValueFrom(migrateProjection({ pool: writer }))).rejects.toMatchObject({ code: '42501' });
    await writer.end();
    await pool.query('DROP OWNED BY analyst; DROP ROLE analyst');
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
    expect(versions.map(({ version }) => version)).toEqual([1, 1, 1]);
    await pool.query('CREATE ROLE reader LOGIN; CREATE SCHEMA other; GRANT USAGE, CREATE ON SCHEMA other TO reader');
    const owner = new Pool({ connectionString: database.server.url.replace('postgres@', 'reader@') });
    expect(await lastValueFrom(migrateProjection({ pool: owner, schema: 'other' }))).toEqual({ version: 1 });
    await Promise.all([...pools, owner].map((each) => each.end()));
    await pool.query('DROP OWNED BY reader');
  });
});
