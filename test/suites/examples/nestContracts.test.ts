import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { mkdtemp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { expect, it } from '@jest/globals';
import { cantonError } from '../../../src/sandbox/index.js';
import { describeWithPostgres } from '../../helpers/postgresServer.js';
import { freePort } from '../../helpers/servers.js';
import { until } from '../../helpers/time.js';
import {
  becomes,
  clientCanary,
  type Database,
  lockContracts,
  nestExample,
  readStatus,
  type Settings,
  statusOf,
} from './nest/example.js';
import { readExpected } from './nest/expected.js';
import { type Answered, type Page, post, read, readPages, type Submitted } from './nest/requests.js';
import type { Service } from './nest/service.js';

const example = nestExample();
const { folder, installedAt, newDatabase, start } = example;

const idsOf = (contracts: Iterable<Answered>): readonly string[] => [...contracts].map(({ contractId }) => contractId);

const submitPath = '/v2/commands/submit-and-wait-for-transaction';

/** A service on a ledger that signs for its party. */
const givenHosted = (settings: Settings = {}) =>
  example.given((sandbox) => ({ PARTY: sandbox.hostedParty('desk'), LEDGER_USER: 'service', ...settings }), 0);

/** A service with a key on a ledger with traffic. */
const given = (settings: Settings = {}, updates = 200) =>
  example.given((sandbox) => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const keyFile = join(folder(), 'key.pem');
    writeFileSync(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const der = publicKey.export({ type: 'spki', format: 'der' });
    const { party } = sandbox.externalParty('service', { publicKey: new Uint8Array(der) });
    return { PARTY: party, PARTY_KEY_FILE: keyFile, ...settings };
  }, updates);

/** The contracts with a tag. */
const tagged = async (one: Service, tag: string): Promise<readonly Answered[]> =>
  (await read<Page>(one, `/contracts?payload.tag=${tag}`)).contracts;

/** Creates an asset. */
const create = (one: Service, asset: object, headers?: Readonly<Record<string, string>>) =>
  post(one, '/contracts/assets', asset, headers);

describeWithPostgres('the list of contracts', () => {
  it('has the active contracts with the types of their payloads, the newest first', async () => {
    const { sandbox, one } = await given();
    const { active } = await readExpected(sandbox.url, sandbox.ledgerEnd);
    const { contracts, offset, next } = await read<Page>(one, '/contracts?limit=200');
    expect(next).toBeNull();
    expect(offset).toBeLessThanOrEqual(sandbox.ledgerEnd);
    expect(new Set(idsOf(contracts))).toEqual(new Set(active.keys()));
    expect(new Set(contracts.map(({ type }) => type))).toEqual(new Set(['asset', 'offer', 'task']));
    for (const { contractId, payload } of contracts) expect(payload).toEqual(active.get(contractId)?.payload);
    const offsets = contracts.map(({ createdAtOffset }) => createdAtOffset);
    expect(offsets).toEqual([...offsets].sort((a, b) => b - a));
    const summary = await read<{ templates: readonly { count: number }[] }>(one, '/contracts/summary');
    expect(summary.templates.reduce((sum, { count }) => sum + count, 0)).toBe(active.size);
  });

  it('selects by type, template, party, text and fields of the payload', async () => {
    const { one } = await given();
    const { contracts: all } = await read<Page>(one, '/contracts?limit=200');
    const expectSelected = async (query: string, wanted: (contract: Answered) => boolean): Promise<void> => {
      const { contracts } = await read<Page>(one, `/contracts?limit=200&${query}`);
      expect(idsOf(contracts)).toEqual(idsOf(all.filter(wanted)));
      expect(contracts.length).toBeGreaterThan(0);
      expect(contracts.length).toBeLessThan(all.length);
    };
    const party = all.find(({ observers }) => observers.length > 0)?.observers[0] ?? '';
    await expectSelected('type=asset', ({ type }) => type === 'asset');
    await expectSelected('type=sandbox-tasks:Tasks.Model:Task', ({ type }) => type === 'task');
    await expectSelected(`party=${party}`, (contract) =>
      [...contract.signatories, ...contract.observers].includes(party),
    );
    await expectSelected('text=GOLD', ({ payload }) => payload['tag'] === 'gold');
    await expectSelected('payload.tag=gold', ({ payload }) => payload['tag'] === 'gold');
    await expectSelected('payload.kind.tag=Fixed', ({ type }) => type === 'offer');
    const owner = String(all.find(({ type }) => type === 'asset')?.payload['owner']);
    await expectSelected(
      `type=asset&payload.owner=${owner}&payload.tag=gold`,
      ({ payload }) => payload['owner'] === owner && payload['tag'] === 'gold',
    );
    // what a client asks for is not in the logs
    const none = await read<Page>(one, `/contracts?payload.tag=%27%3B%20DROP%20TABLE&text=${clientCanary}`);
    expect(none.contracts).toEqual([]);
  });

  it('has pages of one offset while the ledger goes on', async () => {
    const { sandbox, one } = await given();
    const first = await read<Page>(one, '/contracts?limit=7');
    const before = idsOf((await read<Page>(one, '/contracts?limit=200')).contracts);
    sandbox.generate(100);
    const { active } = await readExpected(sandbox.url, sandbox.ledgerEnd);
    await until(async () => {
      const { contracts } = await read<Page>(one, '/contracts?limit=200');
      return contracts.length === active.size && contracts.every(({ contractId }) => active.has(contractId));
    });
    const pages = await readPages(one, 'limit=7', first);
    expect(pages.length).toBeGreaterThan(3);
    expect(new Set(pages.map(({ offset }) => offset)).size).toBe(1);
    expect(pages.flatMap(({ contracts }) => idsOf(contracts))).toEqual(before);
  });

  it('refuses what it does not understand, and says which types there are', async () => {
    const { one } = await given();
    for (const bad of ['limit=0', 'after=nonsense', 'atLeast=-1', 'partty=alice', 'payload.tag=a&payload.tag=b'])
      expect(await statusOf(one, `/contracts?${bad}`)).toBe(400);
    const unknown = await fetch(`${one.url}/contracts?type=Asse`);
    expect(unknown.status).toBe(400);
    expect(await unknown.text()).toContain('sandbox-assets:Main:Asset');
    expect(await statusOf(one, '/contracts/00ab')).toBe(404);
  });

  it('is empty for a type without contracts, and not available before the contracts are loaded', async () => {
    const { one, sandbox } = await given({}, 0);
    expect((await read<Page>(one, '/contracts?type=asset')).contracts).toEqual([]);
    sandbox.fault({ kind: 'hang' }, { path: /active-contracts/, times: 100 });
    const other = await start({ LEDGER_URL: sandbox.url, DATABASE_URL: (await newDatabase()).url });
    await other.ready();
    expect(await statusOf(other, '/contracts')).toBe(503);
  });
});

describeWithPostgres('a contract', () => {
  it('has its history: creation, exercises, archival', async () => {
    const { sandbox, one, database } = await given();
    sandbox.generate(100);
    const found = await touchedAndArchived(database);
    const contract = await read<Answered>(one, `/contracts/${found}`);
    expect(contract.archivedAtOffset).not.toBeNull();
    const events = (contract.history ?? []).map(({ event }) => event);
    expect(events[0]).toBe('created');
    expect(events.at(-1)).toBe('archived');
    expect(events.filter((event) => event === 'exercised').length).toBeGreaterThan(1);
    const offsets = (contract.history ?? []).map(({ offset }) => offset);
    expect(offsets).toEqual([...offsets].sort((a, b) => a - b));
    expect(contract.history?.some(({ choice }) => choice === 'Touch')).toBe(true);
  });
});

/** The id of a contract that was touched and archived since the service began. */
async function touchedAndArchived({ pool }: Database): Promise<string> {
  let id = '';
  await until(async () => {
    const { rows } = await pool.query<{ id: string }>(
      `SELECT contract_id AS id FROM contracts.exercises()
       JOIN contracts.archives() USING (contract_id) WHERE choice = 'Touch' LIMIT 1`,
    );
    id = rows[0]?.id ?? '';
    return id !== '';
  });
  return id;
}

describeWithPostgres('a submission', () => {
  it('answers with the contract as the tables have it, and whoever reads next reads it', async () => {
    const { one, settings } = await given();
    for (const amount of ['1.0000000000', '2.0000000000', '3.0000000000']) {
      const { status, body, location } = await create(one, { amount, tag: 'mine' });
      expect(status).toBe(201);
      const { offset, contract } = body as Submitted;
      expect(contract).toMatchObject({
        type: 'asset',
        createdAtOffset: offset,
        payload: { owner: settings['PARTY'], amount },
      });
      const [newest] = await tagged(one, 'mine');
      expect(newest).toMatchObject({ contractId: contract?.contractId });
      expect(await read<Answered>(one, String(location))).toEqual(contract);
    }
    const [newest] = await tagged(one, 'mine');
    const archived = await post(one, `/contracts/${String(newest?.contractId)}/archive`);
    expect(archived.status).toBe(200);
    const { offset, contract } = archived.body as Submitted;
    expect(contract).toMatchObject({
      archivedAtOffset: offset,
      history: [{ event: 'created' }, {}, { event: 'archived' }],
    });
    const left = await tagged(one, 'mine');
    expect(left.map(({ payload }) => Number(payload['amount']))).toEqual([2, 1]);
    expect((await post(one, `/contracts/${String(newest?.contractId)}/archive`)).status).toBe(409);
  });

  it('is accepted when the tables do not have it in time, and can be waited for', async () => {
    const { one, database } = await given();
    const unlock = await lockContracts(database);
    const { status, body, location } = await create(one, { amount: '1.0', tag: 'late' });
    expect(status).toBe(202);
    expect(body).toMatchObject({ contract: null });
    expect(await statusOf(one, String(location))).toBe(503);
    const waiting = read<Answered>(one, String(location));
    await unlock();
    expect(await waiting).toMatchObject({ type: 'asset', payload: { tag: 'late' } });
  });

  it('says why it was refused, and whether it was committed', async () => {
    const { one, sandbox } = await given();
    const { contracts } = await read<Page>(one, '/contracts?limit=1');
    // of another party
    const refused = await post(one, `/contracts/${String(contracts[0]?.contractId)}/archive`);
    expect(refused.status).toBeGreaterThanOrEqual(400);
    expect(refused.body).toMatchObject({ wasCommitted: false, error: expect.any(String), code: expect.any(String) });
    const wrong = await create(one, { amount: 'much' });
    expect(wrong).toMatchObject({ status: 400 });
    expect(JSON.stringify(wrong.body)).toContain('amount');
    sandbox.fault({ kind: 'lie', about: 'transaction' }, { path: /prepare$/ });
    const lied = await create(one, { amount: '1.0' });
    expect(lied).toMatchObject({ status: 502, body: { error: 'VerificationError', wasCommitted: false } });
  });

  it('is committed once for an Idempotency-Key, also when its answer was lost', async () => {
    const { one, sandbox } = await given();
    sandbox.fault({ kind: 'reset', when: 'after' }, { path: /executeAndWaitForTransaction$/ });
    const headers = { 'idempotency-key': 'order-4711' };
    const first = await create(one, { amount: '1.0', tag: 'once' }, headers);
    expect(first.status).toBe(201);
    const second = await create(one, { amount: '1.0', tag: 'once' }, headers);
    expect(second).toEqual(first);
    expect(await tagged(one, 'once')).toHaveLength(1);
  });

  it('is not possible without an Idempotency-Key, which pages of other origins cannot send, nor without a key', async () => {
    const { one } = await given({ PARTY: '', PARTY_KEY_FILE: '' });
    const asset = { amount: '1.0' };
    expect(await create(one, asset, {})).toMatchObject({ status: 400 });
    expect(await create(one, asset)).toMatchObject({ status: 501 });
  });

  it('of a hosted party is committed once, also by another process after its answers were lost', async () => {
    const { one, sandbox, settings } = await givenHosted({ SUBMIT_WITHIN_MS: '1' });
    sandbox.fault({ kind: 'reset', when: 'after' }, { path: submitPath, times: 3 });
    const asset = { amount: '1.0', tag: 'once' };
    const headers = { 'idempotency-key': 'order-4711' };
    const first = await create(one, asset, headers);
    expect(first).toMatchObject({ status: 503, body: { error: 'OutcomeUnknownError', wasCommitted: 'unknown' } });
    expect(first.body).toMatchObject({ next: expect.stringContaining('the same Idempotency-Key') });
    await one.kill('SIGKILL');
    const other = await start({ ...settings, SUBMIT_WITHIN_MS: '20000' });
    await becomes(other, '/readyz', 200);
    const second = await create(other, asset, headers);
    expect(second).toMatchObject({
      status: 201,
      body: { contract: { payload: { owner: settings['PARTY'], tag: 'once' } } },
    });
    expect(await create(other, asset, headers)).toEqual(second);
    const contractId = (second.body as Submitted).contract?.contractId;
    expect(await post(other, `/contracts/${String(contractId)}/archive`)).toMatchObject({ status: 200 });
    expect(sandbox.updates).toHaveLength(2);
  });

  it('of a hosted party says what the client can do after a refusal, and the command id can be used again', async () => {
    const { one, sandbox } = await givenHosted();
    const asset = { amount: '1.0' };
    const headers = { 'idempotency-key': 'order-4711' };
    const refusals = [
      ['LOCAL_VERDICT_INACTIVE_CONTRACTS', 409],
      ['DAML_FAILURE', 422],
      ['SEQUENCER_NOT_ENOUGH_TRAFFIC_CREDIT', 503],
    ] as const;
    for (const [code, status] of refusals) {
      sandbox.fault({ kind: 'status', status: 400, body: cantonError(code) }, { path: submitPath });
      const refused = await create(one, asset, headers);
      const body = { error: 'SubmissionRejectedError', code, wasCommitted: false, next: expect.any(String) };
      expect(refused).toMatchObject({ status, body });
    }
    expect(await create(one, asset, headers)).toMatchObject({ status: 201 });
    expect(sandbox.updates).toHaveLength(1);
  });

  it('is possible with the ledger, the database and the key of the example', async () => {
    const cwd = await mkdtemp(join(folder(), 'playground-'));
    const [ledgerPort, databasePort] = [String(await freePort()), String(await freePort())];
    const env = { ...process.env, SANDBOX_PORT: ledgerPort, DATABASE_PORT: databasePort };
    const run = (script: string) =>
      spawn(process.execPath, [join(installedAt(), script)], { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] });
    const [ledger, database] = [run('sandbox.mjs'), run('database.mjs')];
    try {
      const begun = Promise.all([once(ledger.stdout, 'data'), once(database.stdout, 'data')]);
      const over = Promise.race([ledger, database].map((child) => once(child, 'exit')));
      expect(await Promise.race([begun, over.then(() => 'one has ended')])).not.toBe('one has ended');
      const settings = Object.fromEntries(
        (await readFile(join(cwd, '.env'), 'utf8')).split('\n').map((line) => line.split('=', 2)),
      ) as { PARTY: string; PARTY_KEY_FILE: string };
      const one = await start({
        LEDGER_URL: `http://127.0.0.1:${ledgerPort}`,
        DATABASE_URL: `postgres://postgres:password@127.0.0.1:${databasePort}/postgres`,
        PARTY: settings.PARTY,
        PARTY_KEY_FILE: join(cwd, settings.PARTY_KEY_FILE),
      });
      await becomes(one, '/readyz', 200);
      expect(await create(one, { amount: '1.0' })).toMatchObject({ status: 201 });
    } finally {
      await Promise.all([ledger, database].map(end));
    }
  });
});

/** Ends a process that may have ended by itself. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const over = once(child, 'exit');
  child.kill('SIGINT');
  await over;
}

describeWithPostgres('the outbox', () => {
  it('creates one receipt for each payment, although answers are lost and the process is killed', async () => {
    const { one, sandbox, settings } = await givenHosted();
    const pay = () => create(one, { amount: '1.0', tag: 'payment' });
    for (let made = 0; made < 4; made += 1) await pay();
    await until(() => sandbox.updates.length > 5);
    sandbox.fault({ kind: 'reset', when: 'after' }, { path: submitPath, times: 2, after: 1 });
    await Promise.all([pay(), pay()]);
    await one.kill('SIGKILL');
    const next = await start(settings);
    await becomes(next, '/readyz', 200);
    await until(async () => (await tagged(next, 'receipt')).length >= 6);
    expect(await tagged(next, 'payment')).toHaveLength(6);
    expect(sandbox.updates).toHaveLength(12);
    expect(await next.kill('SIGTERM')).toMatchObject({ code: 0 });
  });
});

describeWithPostgres('the rule', () => {
  const temporary = { amount: '1.0', tag: 'temporary' };
  const left = async (one: Service): Promise<number> => (await tagged(one, 'temporary')).length;

  it('of a party with a key archives what has expired, and nothing else', async () => {
    const { one, sandbox } = await given({ TEMPORARY_MS: '1' }, 0);
    expect(await create(one, { amount: '1.0', tag: 'kept' })).toMatchObject({ status: 201 });
    for (let made = 0; made < 3; made += 1) await create(one, temporary);
    await until(async () => (await left(one)) === 0);
    expect(await tagged(one, 'kept')).toHaveLength(1);
    expect(sandbox.updates).toHaveLength(7);
    const { rules } = JSON.parse(await readStatus(one)) as { rules: readonly object[] };
    expect(rules).toEqual([expect.objectContaining({ isReady: true, state: 'running', due: 0, failed: 0 })]);
  });

  it('acts once on each contract, although its answers are lost and the process is ended twice', async () => {
    const { one, sandbox, settings } = await givenHosted();
    for (let made = 0; made < 8; made += 1) await create(one, temporary);
    expect(await one.kill('SIGTERM')).toMatchObject({ code: 0 });
    sandbox.fault({ kind: 'reset', when: 'after' }, { path: submitPath, times: 2, after: 1 });
    const second = await start({ ...settings, TEMPORARY_MS: '1' });
    await until(() => sandbox.updates.length > 10);
    await second.kill('SIGKILL');
    const third = await start({ ...settings, TEMPORARY_MS: '1' });
    await becomes(third, '/readyz', 200);
    await until(async () => (await left(third)) === 0);
    expect(sandbox.updates).toHaveLength(16);
    expect(await third.kill('SIGTERM')).toMatchObject({ code: 0 });
  });
});
