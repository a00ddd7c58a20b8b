import { afterAll, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { lastValueFrom, of, throwError } from 'rxjs';
import { withPool } from '../../../src/cli/database.js';
import { cantonError, type WireUpdateInput } from '../../../src/sandbox/index.js';
import { describeWithPostgres, postgresServer, type PostgresServer } from '../../helpers/postgresServer.js';
import { until, useProcessTime } from '../../helpers/time.js';
import { cliWorld } from '../cliWorld.js';
import { evil, poison, unprintable } from '../evil.js';
import { type Capture, capture, type CliRun, parseLines, runCli } from '../runCli.js';

let server: PostgresServer;
let admin: pg.Pool;
let database: string;
let count = 0;

describeWithPostgres('canton-rx project', () => {
  const world = cliWorld();
  beforeAll(async () => {
    server = await postgresServer();
    admin = new pg.Pool({ connectionString: server.url });
    admin.on('error', () => undefined);
  }, 60_000);
  afterAll(async () => {
    await admin.end();
    await server.stop();
  });
  beforeEach(async () => {
    // retries are soon over
    useProcessTime(10);
    count += 1;
    await admin.query(`CREATE DATABASE d${count}`);
    database = server.url.replace(/\/postgres$/, `/d${count}`);
  });

  const project = (...options: readonly string[]): CliRun => projectTo(capture(), ...options);
  const projectTo = (err: Capture, ...options: readonly string[]): CliRun =>
    world.start(['project', '--database', database, '--log-every', '0', ...options], { err });
  const says = (run: CliRun, text: string): Promise<void> => until(() => run.err.text().includes(text));
  const caughtUp = (run: CliRun): Promise<void> => says(run, 'caught up at offset');
  const stop = async (run: CliRun): Promise<number> => {
    run.signals.emit('SIGTERM');
    return run.code;
  };
  /** Runs the projection until it has caught up, and stops it. */
  const projectAll = async (...options: readonly string[]): Promise<CliRun> => {
    const run = project(...options);
    await caughtUp(run);
    expect(await stop(run)).toBe(0);
    return run;
  };
  const sql = async (text: string): Promise<readonly Readonly<Record<string, unknown>>[]> => {
    const client = new pg.Client({ connectionString: database });
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(text)).rows;
    } finally {
      await client.end();
    }
  };
  const activeIds = async (schema = 'contracts'): Promise<readonly unknown[]> =>
    (await sql(`SELECT contract_id FROM ${schema}.active() ORDER BY 1`)).map(({ contract_id }) => contract_id);
  const ledgerIds = async (...options: readonly string[]): Promise<readonly unknown[]> => {
    const run = world.start(['contracts', ...options]);
    await run.code;
    return parseLines(run.out.text())
      .map(({ contractId }) => String(contractId))
      .sort();
  };

  it('loads all contracts, follows the ledger, and continues after a stop', async () => {
    const run = project();
    await caughtUp(run);
    expect(await activeIds()).toStrictEqual(await ledgerIds());
    world.sandbox.generate(50);
    const end = world.sandbox.ledgerEnd;
    await until(async () => Number((await sql('SELECT contracts.latest_offset() AS o'))[0]?.['o']) >= end - 5);
    run.signals.emit('SIGINT');

    expect(await run.code).toBe(0);
    expect(run.err.text()).toMatch(
      /^loading all contracts into the schema contracts\ncaught up at offset \d+; .*\nstopped\nthe same command continues after offset \d+\n$/,
    );
    expect(run.signals.listenerCount('SIGINT')).toBe(0);
    world.sandbox.generate(50);
    const again = await projectAll();
    expect(again.err.text()).toMatch(/^the schema contracts has the contracts at offset \d+; resuming from there\n/);
    expect(await activeIds()).toStrictEqual(await ledgerIds());
  });

  it('has each contract in flight with its own payload, and goes on, if the participant mispairs them', async () => {
    await world.restart({ mispairsInFlight: true }, 0);
    const [source = '', target = ''] = world.sandbox.synchronizers;
    const ids = ['00a1', '00b1', '00c1'];
    const moved = (kind: 'unassign' | 'assign', contractId: string): WireUpdateInput => {
      const move = { source, target };
      const JsAssignmentEvent = { ...move, createdEvent: { contractId } };
      const events = [
        kind === 'assign' ? { JsAssignmentEvent } : { JsUnassignedEvent: { value: { ...move, contractId } } },
      ];
      return { Reassignment: { value: { events } } };
    };
    const creation = (contractId: string): WireUpdateInput => ({
      Transaction: { value: { events: [{ CreatedEvent: { contractId, createArgument: { serial: contractId } } }] } },
    });
    world.sandbox.append(...ids.map(creation), ...ids.toReversed().map((id) => moved('unassign', id)));
    /** Halves the pages of the next command, so that the first one ends within the contracts in flight. */
    const onSmallPages = (): void => {
      const body = cantonError('JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED');
      world.sandbox.fault({ kind: 'status', status: 413, body }, { path: /active-contracts-page/, times: 8 });
    };
    const creationsRead = (): number =>
      world.sandbox.requests.filter(({ path }) => path === '/v2/events/events-by-contract-id').length;
    const verify = async (): Promise<readonly [number, string]> => {
      const run = runCli(['project', 'verify', '--ledger', world.sandbox.url, '--database', database]);
      return [await run.code, run.out.text()];
    };
    onSmallPages();
    await projectAll();
    expect(creationsRead()).toBe(1);
    const payloads = (): Promise<readonly unknown[]> =>
      sql(`SELECT contract_id, payload ->> 'serial' AS serial, in_flight_to IS NOT NULL AS flies
        FROM contracts.active() ORDER BY 1`);
    expect(await payloads()).toEqual(ids.map((id) => ({ contract_id: id, serial: id, flies: true })));
    for (const halve of [() => undefined, onSmallPages]) {
      halve();
      expect(await verify()).toEqual([0, expect.stringMatching(/^the schema contracts has the 3 active contracts/)]);
    }
    expect(creationsRead()).toBe(2);
    const run = world.start(['contracts']);
    await run.code;
    expect(
      parseLines(run.out.text())
        .map(({ contractId, payload }) => [contractId, payload])
        .sort(),
    ).toEqual(ids.map((id) => [id, { serial: id }]));

    const archive = {
      Transaction: { value: { synchronizerId: target, events: [{ ArchivedEvent: { contractId: '00b1' } }] } },
    };
    world.sandbox.append(moved('assign', '00b1'), archive, moved('assign', '00c1'));
    await projectAll();
    expect(await payloads()).toEqual([
      { contract_id: '00a1', serial: '00a1', flies: true },
      { contract_id: '00c1', serial: '00c1', flies: false },
    ]);
    expect(await verify()).toEqual([0, expect.stringMatching(/^the schema contracts has the 2 active contracts/)]);
  });

  it('prints nothing that controls a terminal, whatever the ledger and its names are: project and verify', async () => {
    const verify = async (): Promise<string> => {
      const run = runCli(['project', 'verify', '--ledger', world.sandbox.url, '--database', database]);
      await run.code;
      return run.out.text() + run.err.text();
    };
    const poisonAll = (): void => {
      world.sandbox.fault({ kind: 'rewrite', body: (answer) => poison(answer, evil) }, { path: /./, times: 10_000 });
    };
    await projectAll();
    poisonAll();
    // the contracts differ, and so does the participant
    const differences = await verify();
    expect(differences).not.toBe('');
    expect(differences).not.toMatch(unprintable);
    const another = project();
    await Promise.race([another.code, caughtUp(another)]);
    await stop(another);
    const fresh = project('--schema', 'fresh');
    await Promise.race([fresh.code, caughtUp(fresh)]);
    await stop(fresh);
    for (const { out, err } of [another, fresh]) {
      expect(err.text()).not.toBe('');
      expect(out.text() + err.text()).not.toMatch(unprintable);
      expect(out.text() + err.text()).not.toMatch(/^canton-rx: ok/m);
    }
  });

  it('loads many contracts in several transactions', async () => {
    const body = (answer: unknown): unknown => {
      const { activeContracts, ...others } = answer as { readonly activeContracts: readonly unknown[] };
      const [first = ''] = activeContracts.map((entry) => JSON.stringify(entry));
      const { contractId = '' } = /"contractId":"(?<contractId>\w+)"/.exec(first)?.groups ?? {};
      const copies = Array.from({ length: 12_000 }, (_, index): unknown =>
        JSON.parse(first.replaceAll(contractId, `${contractId}${index}`)),
      );
      return { ...others, activeContracts: copies };
    };
    // the ledger has no update of the copies, so they are read a second time
    world.sandbox.fault({ kind: 'rewrite', body }, { path: /active-contracts-page/, times: 2 });
    const run = project();
    await caughtUp(run);
    const [row] = await sql(
      'SELECT count(*)::int, count(DISTINCT xmin::text)::int AS t FROM contracts.projection_contracts',
    );

    expect(await stop(run)).toBe(0);
    expect(Number(row?.['count'])).toBeGreaterThanOrEqual(12_000);
    expect(Number(row?.['t'])).toBeGreaterThan(1);
  }, 30_000);

  it('keeps contracts in a schema whose name is a keyword of SQL', async () => {
    const run = await projectAll('--schema', 'user');
    expect(run.err.text()).toContain('read it with: SELECT * FROM "user".summary_active()');
    expect(await activeIds('"user"')).toStrictEqual(await ledgerIds());
    const again = project('--schema', 'user');
    await says(again, 'resuming from there');
    const other = project('--schema', 'user');
    await says(other, 'waiting: another process writes the schema user');
    await Promise.all([stop(again), stop(other)]);
    expect(await sql('SELECT "user".latest_offset()::int AS o')).toEqual([{ o: world.sandbox.ledgerEnd }]);
  });

  it('has the contracts and the exercises that the arguments select, in a schema of its own', async () => {
    const [alice = ''] = world.sandbox.parties;
    const selection = ['--template', '#sandbox-tasks:Tasks.Model:Task', '--party', alice];
    const run = project(...selection, '--schema', 'tasks', '--exercises');
    await caughtUp(run);
    expect(await activeIds('tasks')).toStrictEqual(await ledgerIds(...selection));
    world.sandbox.generate(100);
    await until(async () => (await sql("SELECT * FROM tasks.exercises('')")).length > 0);

    expect(await stop(run)).toBe(0);
  });

  it('prints lines of metrics where stderr is no terminal', async () => {
    const run = project('--log-every', '1');
    const line = /^\d{4}-\d\d-\d\dT[\d:.]+Z state=caughtUp offset=\d+ end=\d+ lag=0 handled=\d+/m;
    await until(() => line.test(run.err.text()));

    expect(await stop(run)).toBe(0);
  });

  it('shows its progress on a terminal', async () => {
    const err = capture({ isTTY: true, columns: 120 });
    const run = projectTo(err);
    await until(() => /\d+ \/ \d+ {2}· {2}lag 0 {2}· {2}.*caught up/.test(err.text()));

    expect(await stop(run)).toBe(0);
    // the line is erased before
    expect(err.text().split('\r\u001B[K').at(-1)).toMatch(/^stopped\nthe same command continues after offset \d+\n$/);
  });

  it('waits while another process writes the schema, and says which; then it continues, unless it is stopped', async () => {
    const first = project();
    await caughtUp(first);
    const second = project();
    await says(second, 'waiting: another process writes the schema contracts');
    expect(second.err.text()).toContain('(canton-rx project, connected since 20');
    const third = project();
    await says(third, 'waiting: ');
    expect(await stop(third)).toBe(0);
    expect(await stop(first)).toBe(0);
    await caughtUp(second);

    expect(await stop(second)).toBe(0);
  });

  it('says that it retries while the ledger or the database fails, and goes on', async () => {
    const run = project('--log-every', '1');
    await caughtUp(run);
    world.sandbox.fault({ kind: 'status', status: 503, body: cantonError('SERVICE_NOT_RUNNING') }, { times: 3 });
    // more than the pending request can have
    world.sandbox.generate(250);
    const { host } = new URL(world.sandbox.url);
    await says(run, `\ncanton-rx: retrying: the ledger at ${host} fails (SERVICE_NOT_RUNNING)\n`);
    await says(run, `\ncanton-rx: ${host} responds again\n`);
    await sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'canton-rx project'`);
    world.sandbox.generate(250);
    await says(run, '\ncanton-rx: retrying: the database fails (');
    const end = world.sandbox.ledgerEnd;
    await until(async () => Number((await sql('SELECT contracts.latest_offset() AS o'))[0]?.['o']) >= end - 3);
    await says(run, '\ncanton-rx: the database works again\n');

    expect(await stop(run)).toBe(0);
  });

  it('loads all contracts again after a reset of the ledger, and says when it has caught up', async () => {
    const run = project();
    await caughtUp(run);
    // the clock advances with the timers, so that the time in which a ledger may be restarting is soon over
    const startedAt = Date.now() - performance.now();
    jest.spyOn(Date, 'now').mockImplementation(() => startedAt + performance.now());
    const { sandbox } = world;
    await sandbox.restart({
      whileDown: () => {
        sandbox.restore(50);
      },
    });
    const lines = `canton-rx: the ledger was reset: it ends before offset \\d+ of the schema; loading all contracts again\n`;
    await until(() => {
      // for five minutes, the participant may be reading again what it had
      jest.advanceTimersByTime(200);
      return new RegExp(`${lines}(?:.*\n)*caught up at offset \\d+;`).test(run.err.text());
    }, 600_000);
    jest.restoreAllMocks();
    expect(run.err.text()).toMatch(
      /\ncanton-rx: \d+ contracts, 0 exercises and \d+ updates are removed from the schema contracts\n/,
    );

    expect(await stop(run)).toBe(0);
    expect(await activeIds()).toStrictEqual(await ledgerIds());
  }, 60_000);

  const failure = async (run: CliRun): Promise<{ readonly code: number; readonly text: string }> => {
    const code = await run.code;
    // without the line breaks
    return { code, text: run.err.text().replaceAll(/\n {10,}/g, ' ') };
  };

  it('removes nothing and ends after a reset of the ledger, with --on-replaced fail', async () => {
    const run = project('--on-replaced', 'fail');
    await caughtUp(run);
    const ids = await activeIds();
    const { sandbox } = world;
    const end = sandbox.ledgerEnd;
    await sandbox.restart({
      participantId: 'other::1220ab',
      whileDown: () => {
        sandbox.restore(0);
        while (sandbox.ledgerEnd <= end + 100) sandbox.generate(100, { seed: 77 });
      },
    });
    const { code, text } = await failure(run);

    expect(code).toBe(6);
    expect(text).toContain('has updates that the ledger no longer has');
    expect(await activeIds()).toStrictEqual(ids);
  }, 60_000);

  it('refuses the contracts of another query', async () => {
    await projectAll();
    const { code, text } = await failure(project('--template', '#sandbox-tasks:Tasks.Model:Task'));

    expect(code).toBe(6);
    expect(text).toMatch(
      /^✗ database {2}the schema contracts has other contracts: .* → let the schema follow with --on-selection-change end, choose another schema with --schema, or begin/,
    );
  });

  it('follows another query if it may, and ends or keeps what is no longer selected', async () => {
    const tasks = ['--template', '#sandbox-tasks:Tasks.Model:Task'];
    const offers = ['--template', '#sandbox-assets:Main:Offer'];
    await projectAll(...tasks);
    const ids = await activeIds();
    expect(ids).toStrictEqual(await ledgerIds(...tasks));
    await projectAll(...offers, '--on-selection-change', 'keep');
    expect(await activeIds()).toStrictEqual([...ids, ...(await ledgerIds(...offers))].sort());
    await projectAll(...tasks, '--on-selection-change', 'end');
    expect(await activeIds()).toStrictEqual(ids);
  });

  it('refuses tables of a later version, and those that another program writes', async () => {
    await projectAll();
    await sql('INSERT INTO contracts.projection_versions (version) VALUES (99)');
    const later = await failure(project());
    expect(later.code).toBe(6);
    expect(later.text).toMatch(
      /^✗ schema {2}the schema contracts is of a later version of canton-rx \(tables of version 99\) → /,
    );
    await sql('DELETE FROM contracts.projection_versions WHERE version = 99; DROP TABLE contracts.canton_rx_cursors');

    const { code, text } = await failure(project());
    expect(code).toBe(6);
    expect(text).toMatch(
      /^✗ schema {2}another program has written the schema contracts and saves its offset elsewhere → /,
    );
  });

  it.each([
    ['a port on which nothing listens', (url: string) => url.replace(/:\d+\//, ':1/'), 'connection refused'],
    ['a database that does not exist', (url: string) => `${url}x`, 'the database does not exist'],
    ['an unknown user', (url: string) => url.replace('postgres@', 'nobody@'), 'the server refuses the login'],
    ['a server without TLS', (url: string) => `${url}?sslmode=verify-full`, 'the server has no TLS'],
    [
      'a certificate that is missing',
      (url: string) => `${url}?sslrootcert=/nonexistent/ca.pem`,
      'there is no file /nonexistent/ca.pem',
    ],
    ['another server', () => world.sandbox.url.replace('http', 'postgres'), 'the connection was closed'],
  ])('explains %s', async (_, change, expected) => {
    database = change(database);
    const { code, text } = await failure(project());

    expect(code).toBe(6);
    expect(text).toMatch(new RegExp(`^✗ database  ${expected}.* → `));
  });

  it('explains that the user may not create the schema', async () => {
    await admin.query('DROP ROLE IF EXISTS reader');
    await admin.query('CREATE ROLE reader LOGIN');
    database = database.replace('postgres@', 'reader@');
    const { code, text } = await failure(project());

    expect(code).toBe(6);
    expect(text).toContain('CREATE SCHEMA "contracts" AUTHORIZATION');
  });

  it.each([
    ['of the user', (url: string) => url.replace('postgres@', 'postgres:s3cret@')],
    ['as a parameter', (url: string) => `${url}?password=s3cret`],
  ])('warns of a password in the arguments, %s, and never prints it', async (_, change) => {
    const visible = change(database);
    const run = world.start(['project', '--database', visible]);
    await caughtUp(run);
    expect(await stop(run)).toBe(0);
    expect(run.err.text()).toMatch(/^! other users of this machine can see a password in --database/);
    const hidden = world.start(['project'], { env: { CANTON_RX_DATABASE_URL: visible } });
    await caughtUp(hidden);
    expect(await stop(hidden)).toBe(0);

    expect(hidden.err.text()).toMatch(/^the schema contracts has/);
    expect(run.err.text() + hidden.err.text()).not.toContain('s3cret');
  });

  it('explains a ledger that cannot be read, as check does', async () => {
    await world.restart({ checkToken: () => false });
    const refused = await failure(project());
    expect(refused.code).toBe(5);
    expect(refused.text).toContain('✗ token  a token is required (401)');
    await world.sandbox.close();
    const down = await failure(project());

    expect(down.code).toBe(3);
    expect(down.text).toContain('✗ reachable  connection refused');
  });

  it('names a template that the participant does not know', async () => {
    const { code, text } = await failure(project('--template', '#sandbox-tasks:Tasks.Model:Tusk'));

    expect(code).toBe(1);
    expect(text).toMatch(
      /^canton-rx: the participant does not know the template #sandbox-tasks:Tasks.Model:Tusk: check the spelling/,
    );
    // the schema is not bound to the mistake
    await projectAll('--template', '#sandbox-tasks:Tasks.Model:Task');
  });

  it('names a party that the participant does not know', async () => {
    const { code, text } = await failure(project('--party', 'alicce::1220aa'));

    expect(code).toBe(1);
    expect(text).toMatch(/^canton-rx: the participant does not know the party alicce::1220aa: did you mean alice::/);
  });

  it('requires the package pg', async () => {
    const missing = Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' });
    const opened = lastValueFrom(
      withPool(
        database,
        () => of(1),
        () => Promise.reject(missing),
      ),
    );

    await expect(opened).rejects.toMatchObject({ label: 'package pg', trouble: { next: 'npm install pg' } });
    const failed = lastValueFrom(withPool(database, () => throwError(() => new Error('work'))));
    await expect(failed).rejects.toThrow('work');
  });
});
