import { beforeEach, expect, it } from '@jest/globals';
import { firstValueFrom, lastValueFrom, take, throwError, toArray } from 'rxjs';
import { createLedger, type Ledger, PrunedError, RequestTimeoutError } from '../../src/index.js';
import type { Decide, SubmitAllOptions, Submitted } from '../../src/postgres/index.js';
import { describeWithPostgres } from '../helpers/postgresServer.js';
import { at } from '../sandbox/client.js';
import { assetOf, createAsset, exerciseAsset } from '../sandbox/commands.js';
import { committedIds, outboxes, type OutboxWorld, soon, transactionPath } from './outboxSupport.js';
import { withDatabase } from './support.js';

const submissions = { path: transactionPath };
const tables = ['canton_rx_outbox', 'canton_rx_cursors', 'canton_rx_leases'];

describeWithPostgres('commandOutbox, with a database that has lost its last commits', () => {
  const database = withDatabase();
  const world = outboxes(database);
  beforeEach(async () => {
    for (const table of tables) await database.read(`DROP TABLE IF EXISTS backup_${table}`);
  });

  const backUp = async (): Promise<void> => {
    for (const table of tables) await database.read(`CREATE TABLE backup_${table} AS SELECT * FROM ${table}`);
  };
  const restore = async (): Promise<void> => {
    for (const table of tables) {
      await database.read(`DELETE FROM ${table}`);
      await database.read(`INSERT INTO ${table} OVERRIDING SYSTEM VALUE SELECT * FROM backup_${table}`);
    }
  };

  const enqueue = ({ outbox, inTransaction, create }: OutboxWorld, id: string, key?: string) =>
    inTransaction((tx) => outbox.enqueue(tx, create(id), key === undefined ? {} : { key }));
  const enqueueUndecided = ({ outbox, inTransaction, alice }: OutboxWorld, commandId: string) =>
    inTransaction((tx) => outbox.enqueue(tx, { decide: 'pay', actAs: [alice], userId: 'app', commandId }));

  /** Sends in another process, which has seen nothing of the ledger yet. */
  const sendElsewhere = (
    { sandbox, outbox }: OutboxWorld,
    count: number,
    { wrap = (ledger) => ledger, ...options }: SubmitAllOptions & { readonly wrap?: (ledger: Ledger) => Ledger } = {},
  ): Promise<readonly Submitted[]> => {
    const ledger = wrap(
      createLedger({ baseUrl: sandbox.url, retry: { baseDelayMs: 5, maxDelayMs: 50, giveUpAfterMs: 0 } }),
    );
    return lastValueFrom(outbox.submitAll(ledger, { ...soon, ...options }).pipe(take(count), toArray()));
  };

  const outcomes = (submitted: readonly Submitted[]): readonly unknown[] =>
    submitted.map((each) => [each.commandId, each._tag, 'isRepeated' in each && each.isRepeated]);
  const settled = () =>
    database.read('SELECT command_id, state, update_id, "offset"::int AS "offset" FROM canton_rx_outbox ORDER BY id');

  it('commits each command once that was sent in what is lost, and records its transaction (G88)', async () => {
    const here = await world();
    for (const n of [1, 2, 3, 4, 5, 6]) await enqueue(here, `c${n}`, n % 2 === 0 ? 'even' : undefined);
    here.sandbox.generate(3);
    await here.send(2, { concurrency: 1 });
    await backUp();
    await here.send(4);
    here.sandbox.generate(3);
    const before = await settled();
    const committed = committedIds(here.sandbox);
    await restore();
    const submitted = await sendElsewhere(here, 4);
    expect(outcomes(submitted).toSorted()).toEqual(['c3', 'c4', 'c5', 'c6'].map((id) => [id, 'Committed', true]));
    expect(await settled()).toEqual(before);
    expect(committedIds(here.sandbox)).toEqual(committed);
  });

  it('commits a command once that is enqueued again with its id, because it was lost itself (G88)', async () => {
    const here = await world();
    await enqueue(here, 'zero');
    await here.send(1);
    await backUp();
    await enqueue(here, 'one');
    await here.send(1);
    await restore();
    await enqueue(here, 'one');
    expect(outcomes(await sendElsewhere(here, 1))).toEqual([['one', 'Committed', true]]);
    expect(committedIds(here.sandbox)).toEqual(['zero', 'one']);
  });

  it('commits once if the next attempts are lost, too, and others follow in other processes (G88)', async () => {
    const here = await world();
    const ids = ['one', 'two', 'three', 'four'];
    for (const id of ids) await enqueue(here, id);
    await backUp();
    await here.send(4);
    here.sandbox.generate(5);
    await restore();
    here.sandbox.fault({ kind: 'reset' }, { ...submissions, times: 4 });
    const unknown = await sendElsewhere(here, 4, { recover: false });
    expect(unknown.map(({ _tag }) => _tag)).toEqual(['Unknown', 'Unknown', 'Unknown', 'Unknown']);
    here.sandbox.generate(5);
    expect(outcomes(await sendElsewhere(here, 4)).toSorted()).toEqual(
      ids.toSorted().map((id) => [id, 'Committed', true]),
    );
    expect(committedIds(here.sandbox)).toHaveLength(new Set(committedIds(here.sandbox)).size);
  });

  it.each(['a contract that it creates', 'a contract that it uses up'])(
    'commits once while an attempt that is lost is still in flight: %s',
    async (what) => {
      const here = await world();
      const { sandbox, alice, outbox, create, inTransaction } = here;
      const contractId = await assetOf(sandbox, alice, { commandId: 'a' });
      const request = create('one');
      const used = { ...request, commands: [exerciseAsset(contractId)] };
      await inTransaction((tx) => outbox.enqueue(tx, what.endsWith('creates') ? request : used));
      await backUp();
      sandbox.fault({ kind: 'commitLate', ms: 300 }, { ...submissions, times: 1 });
      expect(outcomes(await sendElsewhere(here, 1, { recover: false }))).toEqual([['one', 'Unknown', false]]);
      await restore();
      const submitted = await sendElsewhere(here, 1);
      expect(outcomes(submitted)).toEqual([['one', 'Committed', true]]);
      expect(committedIds(sandbox)).toEqual(['a', 'one']);
    },
  );

  it('keeps the first decision, whatever is decided again (G88)', async () => {
    const here = await world();
    const { sandbox, alice } = here;
    const pay =
      (serial: string): Decide =>
      () =>
        createAsset(alice, { serial });
    await enqueueUndecided(here, 'one');
    await backUp();
    const [first] = await sendElsewhere(here, 1, { decide: { pay: pay('1') } });
    await restore();
    const [second] = await sendElsewhere(here, 1, { decide: { pay: pay('2') } });
    expect(second).toMatchObject({ _tag: 'Committed', isRepeated: true, offset: at(first, 'offset') });
    expect(JSON.stringify(second)).toContain('"serial":"1"');
    expect(committedIds(sandbox)).toEqual(['one']);
  });

  it('takes a command for committed that always decides to use up the same contract', async () => {
    const here = await world();
    const holding = await assetOf(here.sandbox, here.alice);
    const decide: SubmitAllOptions['decide'] = { pay: () => exerciseAsset(holding) };
    await enqueueUndecided(here, 'one');
    await backUp();
    await sendElsewhere(here, 1, { decide });
    await restore();
    // it was decided again, 20 times
    await database.read('UPDATE canton_rx_outbox SET refusals = 20');
    expect(outcomes(await sendElsewhere(here, 1, { decide }))).toEqual([['one', 'Committed', true]]);
  });

  it('takes the first decision for committed if what it used up is gone', async () => {
    const here = await world();
    const holdings: string[] = [];
    for (const commandId of ['a', 'b']) holdings.push(await assetOf(here.sandbox, here.alice, { commandId }));
    const pay: Decide = (_, { attempt }) => exerciseAsset(holdings[attempt - 1] ?? '');
    await enqueueUndecided(here, 'one');
    await backUp();
    await sendElsewhere(here, 1, { decide: { pay } });
    await restore();
    // a view of the contracts that lags decides the same, and then another one
    expect(outcomes(await sendElsewhere(here, 2, { decide: { pay } }))).toEqual([
      ['one', 'Rejected', false],
      ['one', 'Committed', true],
    ]);
    expect(committedIds(here.sandbox).filter((id) => id === 'one')).toHaveLength(1);
  });

  it('looks back as far as the participant remembers if it is pruned', async () => {
    const here = await world();
    await enqueue(here, 'one');
    await enqueue(here, 'two', 'k');
    await backUp();
    here.sandbox.generate(3);
    const pruned = here.sandbox.ledgerEnd;
    await here.send(2);
    here.sandbox.generate(3);
    await restore();
    here.sandbox.prune(pruned);
    // never sent before
    await enqueue(here, 'three');
    const submitted = await sendElsewhere(here, 3);
    expect(outcomes(submitted).toSorted()).toEqual([
      ['one', 'Committed', true],
      ['three', 'Committed', false],
      ['two', 'Committed', true],
    ]);
    const bodies = here.bodies()['three'] ?? [];
    expect(bodies.map((body) => at(body, 'deduplicationPeriod'))).toEqual([
      { DeduplicationDuration: expect.anything() },
      { DeduplicationOffset: { value: pruned } },
    ]);
    expect(committedIds(here.sandbox).filter((id) => ['one', 'two', 'three'].includes(id))).toHaveLength(3);
  });

  it('sends without looking back if the participant accepts no such period', async () => {
    const here = await world();
    await enqueue(here, 'one');
    // nor the first of without, as if it were pruned meanwhile
    here.sandbox.fault({ kind: 'reject', code: 'INVALID_DEDUPLICATION_PERIOD' }, { ...submissions, times: 3 });
    expect(outcomes(await sendElsewhere(here, 2))).toEqual([
      ['one', 'Rejected', false],
      ['one', 'Committed', false],
    ]);
    expect(here.bodies()['one']).toHaveLength(4);
    expect(at(here.bodies()['one']?.at(-1), 'deduplicationPeriod')).toHaveProperty('DeduplicationOffset');
  });

  it('sends an attempt that is lost again on a pruned participant', async () => {
    const here = await world();
    await enqueue(here, 'one');
    await here.send(1);
    here.sandbox.generate(9);
    here.sandbox.prune(8);
    await enqueue(here, 'two');
    here.sandbox.fault({ kind: 'reset' }, { ...submissions, times: 1 });
    expect(outcomes(await sendElsewhere(here, 1, { recover: false }))).toEqual([['two', 'Unknown', false]]);
    expect(outcomes(await sendElsewhere(here, 1))).toEqual([['two', 'Committed', false]]);
    expect(at(here.bodies()['two']?.at(-1), 'deduplicationPeriod')).toEqual({ DeduplicationOffset: { value: 8 } });
  });

  it.each([
    ['passes', new RequestTimeoutError('/v2/updates', 1, 'localhost'), true],
    ['does not pass', new PrunedError('/v2/updates'), false],
    ['does not pass, and is none of the ledger', new TypeError('no'), false],
  ])('looks for the time of a lost attempt again if that fails for a reason that %s', async (_, error, isRepeated) => {
    const here = await world();
    await enqueue(here, 'one');
    await backUp();
    await here.send(1);
    await restore();
    here.sandbox.fault({ kind: 'reset' }, { ...submissions, times: 1 });
    await sendElsewhere(here, 1, { recover: false });
    let searches = 0;
    const wrap = (ledger: Ledger): Ledger => ({
      ...ledger,
      offsetAt: (...args) => {
        searches += 1;
        return searches > 1 ? ledger.offsetAt(...args) : throwError(() => error);
      },
    });
    const submitted = await sendElsewhere(here, isRepeated ? 2 : 1, { wrap });
    expect(outcomes(submitted)).toEqual([
      ...(isRepeated ? [['one', 'Unknown', false]] : []),
      // as without looking back
      ['one', 'Committed', isRepeated],
    ]);
    expect(searches).toBe(isRepeated ? 2 : 1);
  });

  it('looks back without a search for each command of a large backlog', async () => {
    const here = await world();
    let searches = 0;
    const wrap = (ledger: Ledger): Ledger => ({
      ...ledger,
      offsetAt: (...args) => {
        searches += 1;
        return ledger.offsetAt(...args);
      },
    });
    const request = JSON.stringify({ commands: [createAsset(here.alice)], actAs: [here.alice], userId: 'app' });
    await enqueue(here, 'zero');
    await database.read(
      `INSERT INTO canton_rx_outbox (name, command_id, request, enqueued_at)
        SELECT 'commands', 'c' || n, $1, now() - interval '1 minute' * n FROM generate_series(1, 10000) AS n`,
      [request],
    );
    await sendElsewhere(here, 60, { wrap, concurrency: 8 });
    const sent = Object.values(here.bodies()).map(({ length }) => length);
    expect([searches, Math.max(...sent)]).toEqual([0, 1]);
    // attempts that are lost share the searches
    await database.read(`DELETE FROM canton_rx_outbox WHERE state <> 'pending' OR id > 30`);
    await database.read(
      `UPDATE canton_rx_outbox SET may_be_committed = true, since = 1, enqueued_at = '2026-01-01 00:30'`,
    );
    await database.read(`UPDATE canton_rx_outbox SET participant = $1`, [here.sandbox.participantId]);
    const [row] = await database.read('SELECT count(*)::int AS count FROM canton_rx_outbox');
    await sendElsewhere(here, Number(row?.['count']), { wrap, concurrency: 1 });
    expect(row?.['count']).toBeGreaterThan(20);
    expect(searches).toBe(1);
  });

  it('takes a command for committed whose contract it has used up itself', async () => {
    const here = await world();
    const { sandbox, alice, outbox, create, inTransaction } = here;
    const contracts: string[] = [];
    for (const commandId of ['a', 'b']) contracts.push(await assetOf(sandbox, alice, { commandId }));
    const [used = '', other = ''] = contracts;
    const exercise = (commandId: string, contractId: string) =>
      inTransaction((tx) =>
        outbox.enqueue(tx, { ...create(commandId), commands: [exerciseAsset(contractId)] }, { key: 'k' }),
      );
    await exercise('one', used);
    await exercise('two', other);
    await backUp();
    await here.send(2);
    const before = await settled();
    await restore();
    // the attempt after the restore is lost, too
    sandbox.fault({ kind: 'reset' }, { ...submissions, times: 1 });
    expect(outcomes(await sendElsewhere(here, 1, { recover: false }))).toEqual([['one', 'Unknown', false]]);
    expect(outcomes(await sendElsewhere(here, 2))).toEqual([
      ['one', 'Committed', true],
      ['two', 'Committed', true],
    ]);
    expect(await settled()).toEqual(before);
    // another command has used it up
    await exercise('three', used);
    const attempts = sandbox.requests.filter(({ path }) => path === transactionPath).length;
    expect(outcomes(await sendElsewhere(here, 1))).toEqual([['three', 'Rejected', false]]);
    expect(await firstValueFrom(outbox.parked())).toMatchObject({ commandId: 'three', reason: 'inactiveContract' });
    expect(sandbox.requests.filter(({ path }) => path === transactionPath)).toHaveLength(attempts + 1);
  });

  it('commits a command id again that is enqueued again after the time for which it is kept', async () => {
    const here = await world();
    await enqueue(here, 'one');
    await here.send(1, { keepMs: 60_000 });
    await enqueue(here, 'two');
    await sendElsewhere(here, 1, { keepMs: 1 });
    expect(await settled()).toMatchObject([{ command_id: 'two' }]);
    await enqueue(here, 'one');
    expect(outcomes(await sendElsewhere(here, 1, { keepMs: 60_000 }))).toEqual([['one', 'Committed', false]]);
    expect(committedIds(here.sandbox)).toEqual(['one', 'two', 'one']);
  });

  it.each([
    ['a time ahead', '1 hour', 36 * 3_600],
    ['a day ago', '-1 day', 60 * 3_600],
  ])('looks back 36 hours from when a command was enqueued: %s', async (_, by, expected) => {
    const here = await world();
    await enqueue(here, 'one');
    await database.read(`UPDATE canton_rx_outbox SET enqueued_at = now() + interval '${by}'`);
    await sendElsewhere(here, 1);
    const seconds = at(here.bodies()['one']?.[0], 'deduplicationPeriod', 'DeduplicationDuration', 'value', 'seconds');
    expect(Number(seconds) - expected).toBeGreaterThanOrEqual(0);
    expect(Number(seconds) - expected).toBeLessThan(60);
    expect(await firstValueFrom(here.ledger.ledgerEnd())).toBeGreaterThan(0);
  });
});
