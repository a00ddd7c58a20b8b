import { afterEach, expect, it, jest } from '@jest/globals';
import { Client, Pool, types } from 'pg';
import { elementAt, filter, firstValueFrom, lastValueFrom, Subject, take, tap, toArray } from 'rxjs';
import { logTo } from '../../src/index.js';
import { commandOutbox } from '../../src/postgres/index.js';
import { switchableProxy } from '../helpers/localServers.js';
import { describeWithPostgres } from '../helpers/postgresServer.js';
import { until } from '../helpers/time.js';
import { at } from '../sandbox/client.js';
import { assetOf, exerciseAsset } from '../sandbox/commands.js';
import { committedIds, outboxes, soon, transactionPath } from './outboxSupport.js';
import { poolOf, withDatabase } from './support.js';

const submissions = { path: transactionPath };

describeWithPostgres('commandOutbox, when something fails', () => {
  const database = withDatabase();
  const world = outboxes(database);
  /** Ends what a test has started, also if it fails: another outbox would wait for its name. */
  const ends: (() => unknown)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0)) await end();
  });

  it.each([
    ['is lost after the commit', { kind: 'reset', when: 'after' }],
    ['times out after the commit', { kind: 'status', status: 503, when: 'after' }],
    ['is lost, and the commit comes later', { kind: 'commitLate', ms: 100 }],
    ['is lost before the participant has the command', { kind: 'reset' }],
  ] as const)('commits once if the answer %s', async (_, fault) => {
    const { sandbox, outbox, create, inTransaction, send } = await world();
    for (const id of ['one', 'two']) await inTransaction((tx) => outbox.enqueue(tx, create(id), { key: 'k' }));
    sandbox.fault(fault, submissions);
    expect((await send(2)).submitted.map(({ _tag, commandId }) => [_tag, commandId])).toEqual([
      ['Committed', 'one'],
      ['Committed', 'two'],
    ]);
    expect(committedIds(sandbox)).toEqual(['one', 'two']);
  });

  it('continues a command whose outcome is unknown, before the next of its key (G75)', async () => {
    const { sandbox, outbox, create, inTransaction, send, rows, bodies, diagnostics } = await world();
    for (const id of ['one', 'two']) await inTransaction((tx) => outbox.enqueue(tx, create(id), { key: 'k' }));
    sandbox.fault({ kind: 'reset', when: 'after' }, { ...submissions, times: 3 });
    const { submitted } = await send(3, { recover: false });
    expect(submitted.map(({ _tag, commandId }) => `${_tag} ${commandId}`)).toEqual([
      'Unknown one',
      'Unknown one',
      'Unknown one',
    ]);
    expect(submitted[0]).toMatchObject({ retryAt: expect.any(Number), error: { _tag: 'OutcomeUnknownError' } });
    expect(await rows()).toMatchObject([
      { state: 'pending', may_be_committed: true, reason: 'unknown', failures: 3 },
      { state: 'pending', may_be_committed: false },
    ]);
    const { rows: status } = await database.pool.query('SELECT pending, sending, unknown FROM canton_rx_outbox_status');
    expect(status).toEqual([{ pending: '1', sending: '0', unknown: '1' }]);
    expect((await send(2)).submitted).toMatchObject([{ commandId: 'one', isRepeated: true }, { commandId: 'two' }]);
    expect(committedIds(sandbox)).toEqual(['one', 'two']);
    // each attempt looks back to before the first
    const seconds = (bodies()['one'] ?? []).map((body) =>
      Number(at(body, 'deduplicationPeriod', 'DeduplicationDuration', 'value', 'seconds')),
    );
    expect(seconds).toEqual(seconds.toSorted((one, other) => one - other));
    expect(seconds).toHaveLength(3);
    // whatever is reported has the name of the outbox
    expect(diagnostics.map(({ _tag }) => _tag)).toEqual(
      expect.arrayContaining(['SubmissionSent', 'SubmissionFailed', 'SubmissionCommitted', 'CommandFailed']),
    );
    expect(diagnostics.filter(({ outbox: name }) => name !== 'commands')).toEqual([]);
  });

  it('finds a command that has used up its contract, after an outcome that was unknown (G75)', async () => {
    const { sandbox, outbox, alice, create, inTransaction, send } = await world();
    const contractId = await assetOf(sandbox, alice);
    await inTransaction((tx) => outbox.enqueue(tx, { ...create('one'), commands: [exerciseAsset(contractId)] }));
    sandbox.fault({ kind: 'reset', when: 'after' }, { ...submissions, times: 1 });
    expect((await send(2, { recover: false })).submitted).toMatchObject([
      { _tag: 'Unknown' },
      { _tag: 'Committed', isRepeated: true },
    ]);
  });

  it('saves that a command may be committed before it is sent (G74)', async () => {
    const { sandbox, ledger, outbox, create, inTransaction, rows, send } = await world();
    sandbox.generate(3);
    const since = sandbox.ledgerEnd;
    await inTransaction((tx) => outbox.enqueue(tx, create('one')));
    const seen: unknown[] = [];
    const spying = {
      ...ledger,
      submitAndWaitForTransaction: (...args: Parameters<typeof ledger.submitAndWaitForTransaction>) => {
        seen.push(args[1], rows());
        return ledger.submitAndWaitForTransaction(...args);
      },
    };
    // the answer is lost, and so is the process
    sandbox.fault({ kind: 'hang' }, submissions);
    const dying = outbox.submitAll(spying, soon).subscribe();
    await until(() => sandbox.requests.some(({ path }) => path === transactionPath));
    dying.unsubscribe();
    expect(seen[0]).toEqual({});
    expect(await seen[1]).toMatchObject([{ state: 'pending', may_be_committed: true, since: String(since) }]);
    sandbox.generate(3);
    const [next] = await lastValueFrom(outbox.submitAll(spying, soon).pipe(take(1), toArray()));
    expect(next).toMatchObject({ _tag: 'Committed', commandId: 'one' });
    expect(seen[2]).toMatchObject({ since: { offset: since, participantId: sandbox.participantId } });
    await inTransaction((tx) => outbox.enqueue(tx, create('two')));
    await send(1);
    expect(committedIds(sandbox).filter((id) => ['one', 'two'].includes(id))).toEqual(['one', 'two']);
  });

  it('parks a command that is refused, with those of its key, until it is retried or dropped (G76)', async () => {
    const { sandbox, outbox, alice, create, inTransaction, send, rows, diagnostics } = await world();
    const contractId = await assetOf(sandbox, alice);
    const exercise = (commandId: string) => ({ ...create(commandId), commands: [exerciseAsset(contractId)] });
    const lines: string[] = [];
    const log = (line: string): void => void lines.push(line);
    await inTransaction(async (tx) => {
      await outbox.enqueue(tx, exercise('one'), { key: 'a' });
      await outbox.enqueue(tx, exercise('two'), { key: 'a' });
      await outbox.enqueue(tx, create('three'), { key: 'a' });
      await outbox.enqueue(tx, create('four'), { key: 'b' });
    });
    const { submitted } = await send(3, { concurrency: 1 });
    expect(submitted).toMatchObject([
      { _tag: 'Committed', commandId: 'one', key: 'a' },
      { _tag: 'Rejected', commandId: 'two', error: { _tag: 'SubmissionRejectedError', reason: 'inactiveContract' } },
      { _tag: 'Committed', commandId: 'four' },
    ]);
    expect(submitted[1]).not.toHaveProperty('retryAt');
    const parked = await lastValueFrom(outbox.parked().pipe(toArray()));
    expect(parked).toEqual([
      {
        id: 2,
        commandId: 'two',
        key: 'a',
        reason: 'inactiveContract',
        error: expect.stringContaining('CONTRACT_NOT_FOUND'),
        mayBeCommitted: false,
      },
    ]);
    const diagnostic = diagnostics.find(({ _tag }) => _tag === 'CommandParked');
    expect(diagnostic).toMatchObject({ outbox: 'commands', id: 2, commandId: 'two' });
    if (diagnostic !== undefined) logTo({ warn: log, error: log, info: log })(diagnostic);
    expect(lines).toEqual([expect.stringMatching(/^canton-rx: outbox commands: parked command 2 \(two\): .*rejected/)]);
    expect(await firstValueFrom(outbox.retry(2))).toBe(true);
    expect(await firstValueFrom(outbox.retry(2))).toBe(false);
    expect((await send(1)).submitted).toMatchObject([{ _tag: 'Rejected', commandId: 'two' }]);
    expect(await firstValueFrom(outbox.drop(99))).toBe(false);
    expect(await firstValueFrom(outbox.drop(2))).toBe(true);
    expect((await send(1)).submitted).toMatchObject([{ _tag: 'Committed', commandId: 'three' }]);
    expect((await rows()).map(({ state }) => state)).toEqual(['committed', 'dropped', 'committed', 'committed']);
    expect(await lastValueFrom(outbox.parked().pipe(toArray()))).toEqual([]);
  });

  it('reads what is parked, whatever parsers the program has for the types of the database (G76)', async () => {
    const { JSON: json, INT8: int8 } = types.builtins;
    const own = new Map<number, unknown>([
      [json, (text: string) => text],
      [int8, BigInt],
    ]);
    const getTypeParser = ((oid: never): unknown => own.get(oid) ?? types.getTypeParser(oid)) as never;
    const pool = new Pool({ connectionString: database.server.url, max: 4, types: { getTypeParser } });
    const { outbox, create, inTransaction, send } = await world({ pool });
    const { commands, ...decided } = { ...create('one'), decide: 'none' };
    expect(commands).toHaveLength(1);
    await inTransaction((tx) => outbox.enqueue(tx, decided, { key: 'a' }));
    await send(1);
    expect(await firstValueFrom(outbox.parked())).toMatchObject({
      id: 1,
      commandId: 'one',
      reason: 'decide',
      mayBeCommitted: false,
    });
    await pool.end();
  });

  it.each([
    'LOCAL_VERDICT_LOCKED_CONTRACTS',
    'NOT_CONNECTED_TO_ANY_SYNCHRONIZER',
    'NOT_SEQUENCED_TIMEOUT',
    // a contract in flight
    'UNKNOWN_CONTRACT_SYNCHRONIZERS',
    'SEQUENCER_REQUEST_FAILED',
    'MEDIATOR_INVALID_MESSAGE',
    'OUTDATED_TRAFFIC_COST',
  ])('sends a command again after %s, while other keys go on', async (code) => {
    const { sandbox, ledger, outbox, create, inTransaction, send } = await world();
    await inTransaction((tx) => outbox.enqueue(tx, create('one'), { key: 'a' }));
    sandbox.fault({ kind: 'reject', code }, { ...submissions, times: 4 });
    const { submitted } = await send(1, { recover: false });
    expect(submitted).toMatchObject([{ _tag: 'Rejected', commandId: 'one', retryAt: expect.any(Number) }]);
    await inTransaction((tx) => outbox.enqueue(tx, create('two'), { key: 'b' }));
    const got: string[] = [];
    const sending = outbox
      .submitAll(ledger, { ...soon, recover: false })
      .subscribe(({ _tag, commandId }) => got.push(`${_tag} ${commandId}`));
    await until(() => got.includes('Committed one') && got.includes('Committed two'));
    sending.unsubscribe();
    expect([...committedIds(sandbox)].sort()).toEqual(['one', 'two']);
  });

  it.each([
    'NOT_CONNECTED_TO_ANY_SYNCHRONIZER',
    // the same reason
    'NOT_SEQUENCED_TIMEOUT',
    'LOCAL_VERDICT_TIMEOUT',
    // it is sent a few times only, too, but passes
    'LOCAL_VERDICT_LOCKED_CONTRACTS',
  ])('parks a command that may be too large after 20 such failures, however often %s came before', async (code) => {
    const { sandbox, outbox, create, inTransaction, send, rows } = await world();
    await inTransaction((tx) => outbox.enqueue(tx, create('one')));
    sandbox.fault({ kind: 'reject', code }, { ...submissions, times: 21 });
    for (const each of ['SEQUENCER_REQUEST_FAILED', 'MEDIATOR_INVALID_MESSAGE'])
      sandbox.fault({ kind: 'reject', code: each }, { ...submissions, times: 10 });
    sandbox.fault({ kind: 'reject', code: 'SEQUENCER_REQUEST_FAILED' }, { ...submissions, times: 99 });
    const { submitted } = await send(42, { recover: false });
    expect(submitted.findIndex((each) => each._tag === 'Rejected' && each.retryAt === undefined)).toBe(41);
    expect(await rows()).toMatchObject([{ state: 'parked', reason: 'timeout', may_be_committed: false }]);
  });

  it.each([
    ['back', -3_600_000],
    ['forward', 3_600_000],
  ])('goes on in time after a pause in which the clock is set %s by an hour', async (_, by) => {
    const { sandbox, outbox, create, inTransaction, ledger } = await world();
    const realNow = Date.now.bind(Date);
    for (const id of ['one', 'two']) await inTransaction((tx) => outbox.enqueue(tx, create(id)));
    sandbox.fault({ kind: 'reject', code: 'SEQUENCER_NOT_ENOUGH_TRAFFIC_CREDIT' }, submissions);
    const retry = { baseDelayMs: 1_000, maxDelayMs: 1_000 };
    const startedAt = performance.now();
    const committed$ = outbox.submitAll(ledger, { concurrency: 1, retry }).pipe(
      tap(({ _tag }) => {
        if (_tag === 'Rejected') jest.spyOn(Date, 'now').mockImplementation(() => realNow() + by);
      }),
      filter(({ _tag }) => _tag === 'Committed'),
      take(2),
    );
    await lastValueFrom(committed$);
    jest.restoreAllMocks();
    // half of the pause at least, whatever the clock says
    expect(performance.now() - startedAt).toBeGreaterThan(450);
  });

  it('throws for a recovery that is out of range, before anything is sent', async () => {
    const { ledger, outbox } = await world();
    for (const withinMs of [Number.NaN, 0, -1])
      expect(() => outbox.submitAll(ledger, { recover: { withinMs } })).toThrow(TypeError);
    expect(() => outbox.submitAll(ledger, { recover: false })).not.toThrow();
  });

  it('pauses all commands while the participant has no traffic', async () => {
    const { sandbox, outbox, create, inTransaction, send } = await world();
    for (let n = 0; n < 30; n += 1) await inTransaction((tx) => outbox.enqueue(tx, create(`c${n}`)));
    const code = 'SEQUENCER_NOT_ENOUGH_TRAFFIC_CREDIT';
    sandbox.fault({ kind: 'reject', code }, { ...submissions, times: 6 });
    const how = { retry: { baseDelayMs: 600, maxDelayMs: 600 } };
    const { submitted } = await send(36, how);
    expect(submitted.filter(({ _tag }) => _tag === 'Committed')).toHaveLength(30);
    const refused = sandbox.requests.filter(({ path, status }) => path === transactionPath && status === 400);
    expect(refused).toHaveLength(6);
    // four at once, then one after each pause
    const [, , , fourth, fifth, sixth] = refused.map((each) => each.at);
    expect([(fifth ?? 0) - (fourth ?? 0), (sixth ?? 0) - (fifth ?? 0)].every((ms) => ms >= 100)).toBe(true);
  });

  it('waits while the participant is down, and sends nothing to another one (G77)', async () => {
    const { sandbox, outbox, create, inTransaction, send, rows } = await world();
    await inTransaction((tx) => outbox.enqueue(tx, create('one'), { key: 'k' }));
    await inTransaction((tx) => outbox.enqueue(tx, create('two'), { key: 'k' }));
    sandbox.fault({ kind: 'reset' }, { ...submissions, times: 2 });
    expect((await send(1, { recover: false })).submitted).toMatchObject([{ _tag: 'Unknown', commandId: 'one' }]);
    await sandbox.restart({ participantId: 'other::1220', downMs: 100 });
    const before = sandbox.requests.length;
    expect((await send(1, { recover: false })).submitted).toMatchObject([
      { _tag: 'Unknown', commandId: 'one', error: { _tag: 'LedgerResetError' } },
    ]);
    expect(sandbox.requests.slice(before).filter(({ path }) => path === transactionPath)).toEqual([]);
    expect(await rows()).toMatchObject([{ state: 'parked', reason: 'replaced', may_be_committed: true }, {}]);
    // a retry does not forget it; a person may
    expect(await firstValueFrom(outbox.retry(1))).toBe(true);
    expect((await send(1)).submitted).toMatchObject([{ _tag: 'Unknown', commandId: 'one' }]);
    expect(await firstValueFrom(outbox.retry(1, { forget: true }))).toBe(true);
    expect((await send(2)).submitted).toMatchObject([
      { _tag: 'Committed', commandId: 'one' },
      { _tag: 'Committed', commandId: 'two' },
    ]);
    expect(committedIds(sandbox)).toEqual(['one', 'two']);
  });

  it('parks a command that may be on a ledger which was restored to an earlier end', async () => {
    const { sandbox, outbox, create, inTransaction, send } = await world();
    sandbox.generate(10);
    await inTransaction((tx) => outbox.enqueue(tx, create('one')));
    sandbox.fault({ kind: 'reset' }, { ...submissions, times: 1 });
    expect((await send(1, { recover: false })).submitted).toMatchObject([{ _tag: 'Unknown' }]);
    sandbox.restore(5);
    const { submitted } = await send(1, { recover: false });
    expect(submitted).toMatchObject([{ _tag: 'Unknown', error: { lastError: { _tag: 'LedgerResetError' } } }]);
    expect(await firstValueFrom(outbox.parked())).toMatchObject({ reason: 'replaced', mayBeCommitted: true });
    expect(committedIds(sandbox)).not.toContain('one');
  });

  it.each([0, 2, 4, 6])('commits a command once whose participant is restored at %d and forgets it', async (end) => {
    const { sandbox, outbox, create, inTransaction, send } = await world({
      sandbox: { synchronizers: ['one::1220', 'two::1220', 'three::1220'] },
    });
    await inTransaction((tx) => outbox.enqueue(tx, create('before')));
    await send(1);
    sandbox.generate(6, { seed: end });
    await inTransaction((tx) => outbox.enqueue(tx, create('one')));
    sandbox.fault({ kind: 'reset', when: 'after' }, { ...submissions, times: 1 });
    expect((await send(1, { recover: false })).submitted).toMatchObject([{ _tag: 'Unknown' }]);
    sandbox.restore(end, { readAgain: true, offsets: 'other', forgetsCommands: true });
    const { submitted } = await send(1);
    expect(committedIds(sandbox).filter((id) => id === 'one')).toHaveLength(1);
    expect(submitted).toMatchObject([{ _tag: 'Committed', isRepeated: true }]);
  });

  it('gives a refused command another start if the participant has pruned the first', async () => {
    const { sandbox, outbox, create, inTransaction, send } = await world();
    await inTransaction((tx) => outbox.enqueue(tx, create('one')));
    sandbox.fault({ kind: 'reject', code: 'DAML_FAILURE' }, submissions);
    expect((await send(1)).submitted).toMatchObject([{ _tag: 'Rejected' }]);
    sandbox.generate(20);
    sandbox.prune(15);
    await firstValueFrom(outbox.retry(1));
    expect((await send(1)).submitted).toMatchObject([{ _tag: 'Committed', commandId: 'one' }]);
    // the start that the request names is kept
    const deduplicationPeriod = { DeduplicationOffset: { value: 2 } };
    await inTransaction((tx) => outbox.enqueue(tx, { ...create('two'), deduplicationPeriod }));
    expect((await send(1)).submitted).toMatchObject([{ _tag: 'Rejected', error: { reason: 'invalid' } }]);
    expect(await firstValueFrom(outbox.parked())).toMatchObject({ commandId: 'two', reason: 'invalid' });
  });

  it('lets another process take over within a moment, and refuses what the former one records (G78)', async () => {
    const { sandbox, ledger, outbox, create, inTransaction } = await world();
    await inTransaction((tx) => outbox.enqueue(tx, create('zero')));
    const pools = [poolOf(database.server.url, 2), poolOf(database.server.url, 2)];
    const got: string[] = [];
    const [first, second] = pools.map((pool, index) =>
      commandOutbox({ pool })
        .submitAll(ledger, { ...soon, concurrency: 2 })
        .subscribe(({ commandId }) => got.push(`${index} ${commandId}`)),
    );
    for (const running of [first, second]) ends.push(() => running?.unsubscribe());
    for (const pool of pools) ends.push(() => pool.end());
    await until(() => got.length === 1);
    for (let n = 0; n < 5; n += 1) await inTransaction((tx) => outbox.enqueue(tx, create(`a${n}`)));
    await until(() => got.length === 6);
    const leader = got[0]?.[0];
    expect(got.every((each) => each.startsWith(leader ?? '?'))).toBe(true);
    (leader === '0' ? first : second)?.unsubscribe();
    for (let n = 0; n < 5; n += 1) await inTransaction((tx) => outbox.enqueue(tx, create(`b${n}`)));
    await until(() => got.length === 11);
    expect(got.slice(6).every((each) => !each.startsWith(leader ?? '?'))).toBe(true);
    // its fencing token is no longer the current one
    sandbox.fault({ kind: 'delay', ms: 2_500 }, submissions);
    await inTransaction((tx) => outbox.enqueue(tx, create('last')));
    await until(() => sandbox.requests.filter(({ path }) => path === transactionPath).length === 12);
    await database.pool.query('UPDATE canton_rx_cursors SET fence = fence + 1');
    await until(() => got.length === 12);
    // its record was refused, and the command was found without sending it again
    expect(sandbox.requests.filter(({ path }) => path === transactionPath)).toHaveLength(12);
    expect(committedIds(sandbox)).toHaveLength(12);
    expect(new Set(committedIds(sandbox)).size).toBe(12);
  });

  it('continues when the database is back (G78)', async () => {
    const { sandbox, ledger, outbox, create, inTransaction } = await world();
    const proxy = await switchableProxy(database.server.url.replace('postgres:', 'http:'));
    const pool = poolOf(proxy.url.replace('http://', 'postgres://postgres@') + '/postgres', 2);
    const got: string[] = [];
    const sending = commandOutbox({ pool })
      .submitAll(ledger, { ...soon, recover: { withinMs: 5_000 } })
      .subscribe(({ commandId }) => got.push(commandId));
    ends.push(
      () => {
        sending.unsubscribe();
      },
      () => pool.end(),
      proxy.close,
    );
    await inTransaction((tx) => outbox.enqueue(tx, create('one')));
    await until(() => got.length === 1);
    sandbox.fault({ kind: 'delay', ms: 50 }, submissions);
    await inTransaction((tx) => outbox.enqueue(tx, create('two')));
    await until(() => sandbox.requests.filter(({ path }) => path === transactionPath).length === 2);
    proxy.disconnect();
    await inTransaction((tx) => outbox.enqueue(tx, create('three')));
    setTimeout(proxy.reconnect, 200);
    await until(() => got.length === 3);
    expect(committedIds(sandbox)).toEqual(['one', 'two', 'three']);
  });

  it('sends one statement at a time over its connection, also when it is unsubscribed from', async () => {
    const { ledger, create, inTransaction, outbox } = await world();
    const most = new Map<Client, number>();
    const statements$ = new Subject<void>();
    class Counting extends Client {
      #active = 0;
      override query = ((...args: readonly unknown[]): unknown => {
        const result: unknown = Reflect.apply(super.query.bind(this), this, args);
        if (!(result instanceof Promise)) return result;
        this.#active += 1;
        most.set(this, Math.max(this.#active, most.get(this) ?? 0));
        const end = (): void => void (this.#active -= 1);
        result.then(end, end);
        statements$.next();
        return result;
      }) as Client['query'];
    }
    const pool = new Pool({ connectionString: database.server.url, max: 3, Client: Counting });
    ends.push(() => pool.end());
    for (let n = 0; n < 12; n += 1) await inTransaction((tx) => outbox.enqueue(tx, create(`c${n}`)));
    // between the statements of a start, of the commands, and of the release
    for (let statements = 1; statements <= 12; statements += 1) {
      const begun = firstValueFrom(statements$.pipe(elementAt(statements - 1)));
      const sending = commandOutbox({ pool })
        .submitAll(ledger, { ...soon, pollMs: 1, concurrency: 2 })
        .subscribe();
      await begun;
      sending.unsubscribe();
    }
    await until(() => pool.totalCount === 0 || pool.idleCount === pool.totalCount);
    expect(most.size).toBeGreaterThan(3);
    expect(new Set(most.values())).toEqual(new Set([1]));
  });
});
