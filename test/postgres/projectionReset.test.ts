import { execFileSync } from 'node:child_process';
import { beforeEach, expect, it } from '@jest/globals';
import * as t from 'io-ts';
import { lastValueFrom, of, takeWhile } from 'rxjs';
import { contractType, createLedger, type Ledger } from '../../src/index.js';
import { contractsProjection, postgresStore, postgresStoreSql } from '../../src/postgres/index.js';
import { contractsFeed, type ContractsFeedQuery, processFeed } from '../../src/process/index.js';
import type { Sandbox, WireUpdateInput } from '../../src/sandbox/index.js';
import { archived, assigned, created, reassignmentOf, transactionOf, unassigned } from '../helpers/contractEvents.js';
import { sandboxes } from '../helpers/localServers.js';
import { describeWithPostgres } from '../helpers/postgresServer.js';
import { until } from '../helpers/time.js';
import { creates, sync, worksOf, write } from './projectionWorks.js';
import { withDatabase } from './support.js';

const sandbox = sandboxes();
const query: ContractsFeedQuery = { parties: 'any', includeExercises: true };

describeWithPostgres('a projection that is reset to an offset', () => {
  const database = withDatabase();
  beforeEach(async () => {
    await database.pool.query('DROP SCHEMA IF EXISTS contracts, other, ops CASCADE');
  });
  const { read, ids } = database;

  const processorOf = (ledger: Ledger, schema: string, parties = query.parties) => {
    const { pool } = database;
    const feed = contractsFeed(ledger, { ...query, parties });
    const store = postgresStore({ pool, pollMs: 20 });
    return processFeed(feed, contractsProjection({ pool, query, schema }), { name: schema, store });
  };
  const project = async (ledger: Ledger, schema = 'contracts', parties = query.parties): Promise<void> => {
    await lastValueFrom(processorOf(ledger, schema, parties).pipe(takeWhile(({ isCaughtUp }) => !isCaughtUp)), {
      defaultValue: undefined,
    });
  };
  /** A ledger with two synchronizers, and a projection that has a part of it before the offset and another one after. */
  const given = async (): Promise<{ service: Sandbox; ledger: Ledger; at: number }> => {
    const service = await sandbox();
    service.generate(150, { seed: 5 });
    const ledger = createLedger({ baseUrl: service.url, retry: { baseDelayMs: 5, maxDelayMs: 50 } });
    await project(ledger, 'other');
    await project(ledger);
    service.generate(150, { seed: 6 });
    await project(ledger);
    const at = await latest();
    service.generate(150, { seed: 7 });
    await project(ledger);
    await project(ledger, 'other');
    return { service, ledger, at };
  };
  const latest = async (): Promise<number> => Number((await read('SELECT contracts.latest_offset() AS at'))[0]?.['at']);
  const reset = (at: number) =>
    read('SELECT new_latest::int, affected_transactions::int AS affected FROM contracts.reset_to_offset($1)', [at]);
  /** All rows that readers can see. */
  const rowsIn = async (schema: string): Promise<readonly unknown[]> =>
    Promise.all(
      ['creates()', 'exercises()', 'transactions', 'summary_updates()', 'summary_reassignments()'].map((source) =>
        read(`SELECT to_jsonb(r) AS row FROM ${schema}.${source} r ORDER BY 1`),
      ),
    );

  it('is as it was there, and then has everything again, once', async () => {
    const { ledger, service, at } = await given();
    const before = await read('SELECT contract_id FROM contracts.active(NULL, $1) ORDER BY 1', [at]);
    const [after] = await read('SELECT count(*)::int AS n FROM contracts.transactions WHERE "offset" > $1', [at]);
    expect(await reset(at)).toEqual([{ new_latest: at, affected: after?.['n'] }]);
    expect(await latest()).toBe(at);
    expect(await read('SELECT contract_id FROM contracts.active() ORDER BY 1')).toEqual(before);
    expect(await read('SELECT FROM contracts.exercises(NULL, $1)', [at + 1])).toEqual([]);
    // the participant says on which synchronizers the contracts were at the offset
    const reconciled: unknown[] = [];
    const watched = ledger.diagnostics$.subscribe((diagnostic) => {
      if (diagnostic._tag === 'ContractsReconciled') reconciled.push(diagnostic.offset);
    });
    await project(ledger);
    watched.unsubscribe();
    expect(reconciled).toEqual([at]);
    expect(await rowsIn('contracts')).toEqual(await rowsIn('other'));
    expect((await rowsIn('contracts')).every((rows) => (rows as readonly unknown[]).length > 0)).toBe(true);

    // the last change, then an offset without one
    await reset(await latest());
    service.generate(40, { seed: 8 });
    await project(ledger);
    await project(ledger, 'other');
    expect(await rowsIn('contracts')).toEqual(await rowsIn('other'));
  });

  it('keeps why a contract had ended without an archival, and has it again if the participant shows it', async () => {
    const { ledger, at } = await given();
    await read(
      `UPDATE contracts.projection_contracts SET end_reason = 'notVisible', archived_at_offset = contracts.latest_offset()
        WHERE contract_id = (SELECT min(contract_id) FROM contracts.active(NULL, $1) WHERE archived_at_offset IS NULL)`,
      [at],
    );
    await reset(at);
    const ended = `SELECT archived_at_offset::int AS at FROM contracts.archives() WHERE end_reason = 'notVisible'`;
    expect(await read(ended)).toEqual([{ at }]);
    await project(ledger);
    expect(await rowsIn('contracts')).toEqual(await rowsIn('other'));
  });

  it('is refused at an offset at which other parties were selected, also if that ended no contract', async () => {
    const service = await sandbox();
    const ledger = createLedger({ baseUrl: service.url, retry: { baseDelayMs: 5, maxDelayMs: 50 } });
    const [alice, bob] = [service.hostedParty('alice'), service.hostedParty('bob')];
    const show = (party: string, ...events: readonly object[]): void => {
      const offset = service.ledgerEnd + 1;
      const shown = JSON.stringify(transactionOf(offset, sync, events)).replaceAll('alice::1220ab', party);
      service.append((JSON.parse(shown) as { readonly update: WireUpdateInput }).update);
    };
    show(alice, created({ contractId: 'a', offset: 1 }));
    await project(ledger, 'contracts', [alice, bob]);
    show(bob, created({ contractId: 'b', offset: 2 }));
    show(bob, archived('b', 3));
    await project(ledger, 'contracts', [alice, bob]);
    const at = await latest();
    show(alice, created({ contractId: 'a4', offset: 4 }));
    await project(ledger, 'contracts', [alice, bob]);
    await project(ledger, 'contracts', of([alice]));
    show(alice, created({ contractId: 'a5', offset: 5 }));
    await project(ledger, 'contracts', of([alice]));
    await expect(reset(at)).rejects.toMatchObject({ code: '55000', message: /selected until offset 4/ });
    // from where they are
    await reset(4);
    await project(ledger, 'contracts', [alice]);
    expect(await ids('contracts.creates()')).toEqual(['a', 'a4', 'a5', 'b']);
    await expect(reset(at)).rejects.toMatchObject({ code: '55000' });
  });

  it('has the ledger of its cursor, or loads that of the address', async () => {
    const { service, ledger, at } = await given();
    await reset(at);
    // an older backup, and another history
    service.restore(at - 20);
    service.generate(60, { seed: 9 });
    await project(ledger);
    const [row] = await read('SELECT count(*)::int AS n FROM contracts.archives(NULL, 0, $1)', [at - 20]);
    expect(row).toEqual({ n: 0 });
  });

  it('is refused while the processor runs, and continues at the offset when it was paused', async () => {
    const { ledger, at } = await given();
    const offsets: number[] = [];
    const running = processorOf(ledger, 'contracts').subscribe(({ offset }) => offsets.push(offset));
    await until(() => offsets.length > 0);
    await expect(reset(at)).rejects.toMatchObject({ code: '55000', message: 'the processor contracts is running' });
    // as canton-rx processors pause and resume do
    await read(`UPDATE canton_rx_leases SET paused_at = clock_timestamp() WHERE name = 'contracts'`);
    await reset(at);
    await read(`UPDATE canton_rx_leases SET paused_at = NULL WHERE name = 'contracts'`);
    await until(async () => (await latest()) === offsets[0]);
    running.unsubscribe();
    expect(await rowsIn('contracts')).toEqual(await rowsIn('other'));
  });

  it('names the processor that runs and its schema in the command that pauses it, as a shell reads them', async () => {
    await project(createLedger({ baseUrl: (await sandbox()).url }));
    const name = "it's; ours";
    await read(`CREATE SCHEMA ops;${postgresStoreSql('ops')}`);
    await read(`UPDATE contracts.projection_state SET cursor_at = $1`, [
      JSON.stringify(['ops.canton_rx_cursors', name]),
    ]);
    await read(`INSERT INTO ops.canton_rx_leases (name, holder, renewed_at) VALUES ($1, 'h', clock_timestamp())`, [
      name,
    ]);
    const { hint } = await reset(1).then(
      () => ({ hint: '' }),
      (error: unknown) => error as { readonly hint: string },
    );
    const [command = ''] = hint.split(' first, ');
    expect(execFileSync('sh', ['-c', command.replace('canton-rx', String.raw`printf '%s\n'`)]).toString()).toBe(
      `processors\npause\n--schema\nops\n--name=${name}\n`,
    );
  });

  it('ends a transaction of a paused processor that is still open', async () => {
    const { ledger, at } = await given();
    const client = await database.pool.connect();
    // what a batch of the processor does, before and after the reset
    await client.query('BEGIN');
    await client.query('UPDATE contracts.projection_state SET latest_offset = latest_offset');
    const done = reset(at);
    await until(async () => (await read(`SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'`)).length > 0);
    const saved = await client.query(
      'UPDATE canton_rx_cursors SET saved_at = now() WHERE name = $1 AND fence = $2 RETURNING 1',
      ['contracts', (await read(`SELECT fence FROM canton_rx_cursors WHERE name = 'contracts'`))[0]?.['fence']],
    );
    expect(saved.rowCount).toBe(1);
    await client.query('COMMIT');
    client.release();
    await done;
    await project(ledger);
    expect(await rowsIn('contracts')).toEqual(await rowsIn('other'));
  });

  it('is refused at an offset that is not known, and if it brought back what was erased', async () => {
    const { service, ledger, at } = await given();
    const refused = (offset: number) => expect(reset(offset)).rejects;
    await refused((await latest()) + 1_000).toMatchObject({ code: '55000' });
    await refused(0).toMatchObject({ code: '22003' });
    const [ended] = await read('SELECT contract_id AS id FROM contracts.archives(NULL, $1) LIMIT 1', [at + 1]);
    await read(`SELECT contracts.redact_contract($1, 'r')`, [ended?.['id']]);
    await refused(at).toMatchObject({ code: '55000', message: /erased after offset/ });
    await read(`UPDATE contracts.projection_contracts SET redaction_id = NULL`);
    const now = await read('SELECT * FROM contracts.validate_reset_offset($1)', [at]);
    expect(now).toHaveLength(1);
    service.generate(50, { seed: 9 });
    service.prune(service.ledgerEnd - 1);
    await project(ledger);
    await refused(at).toMatchObject({ code: '22003', message: /gap after offset/ });
  });

  it('counts creations and ends, what did both, and reassignments, in a range', async () => {
    const target = 'sync-b::1220cd';
    const move = { source: sync, target, reassignmentCounter: 1 };
    const elements = [
      creates('c1', 1),
      creates('c2', 2),
      transactionOf(3, sync, [archived('c1', 3)]),
      reassignmentOf(4, sync, [unassigned('c2', 4, move)]),
      reassignmentOf(5, target, [assigned({ contractId: 'c2', offset: 5 }, move)]),
      creates('c3', 6),
    ];
    await write(
      database.pool,
      contractsProjection({ pool: database.pool, query: { parties: 'any' } }),
      worksOf(elements),
    );
    const summary = (of: string) =>
      read(`SELECT to_jsonb(r) - 'template_fqn' - 'payload_type' AS r FROM contracts.${of} r`);
    expect(await summary('summary_updates()')).toEqual([{ r: { creates: 3, archives: 1 } }]);
    expect(await summary('summary_updates(2, 3)')).toEqual([{ r: { creates: 1, archives: 1 } }]);
    expect(await summary('summary_transients()')).toEqual([{ r: { count: 1 } }]);
    expect(await summary('summary_transients(2, 6)')).toEqual([]);
    expect(await summary('summary_transients(1, 2)')).toEqual([]);
    const moved = { source: sync, target };
    expect(await summary('summary_reassignments()')).toEqual([{ r: { ...moved, unassigned: 1, assigned: 1 } }]);
    expect(await summary('summary_reassignments(5)')).toEqual([{ r: { ...moved, unassigned: 0, assigned: 1 } }]);
    expect(await summary('summary_reassignments(1, 3)')).toEqual([]);
  });

  it('counts no reassignments of contracts that a participant sends although they are not selected', async () => {
    const types = { marble: contractType('#marbles:Marbles:Marble', t.unknown) };
    const target = 'sync-b::1220cd';
    const move = { source: sync, target, reassignmentCounter: 1 };
    const other = { contractId: 'x', offset: 5, packageName: 'other', templateId: 'pkg:Other:Thing' };
    const elements = [
      creates('c1', 1),
      reassignmentOf(4, sync, [unassigned('x', 4, move), unassigned('c1', 4, move)]),
      reassignmentOf(5, target, [assigned(other, move), assigned({ contractId: 'c1', offset: 5 }, move)]),
    ];
    const handler = contractsProjection({ pool: database.pool, query: { parties: 'any', types } });
    await write(database.pool, handler, worksOf(elements, types));
    expect(await ids('contracts.active()')).toEqual(['c1']);
    expect(await read('SELECT unassigned::int, assigned::int FROM contracts.summary_reassignments()')).toEqual([
      { unassigned: 1, assigned: 1 },
    ]);
  });
});
