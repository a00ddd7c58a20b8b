import { afterEach, expect, it } from '@jest/globals';
import { defer, firstValueFrom, NEVER, type Observable, throwError } from 'rxjs';
import { ConnectionError, type Ledger, OutcomeUnknownError, type SubmittedTransaction } from '../../src/index.js';
import type { OutboxStatus, SubmitAllOptions } from '../../src/postgres/index.js';
import { describeWithPostgres } from '../helpers/postgresServer.js';
import { until } from '../helpers/time.js';
import { committedIds, outboxes, type OutboxWorld, soon } from './outboxSupport.js';
import { withDatabase } from './support.js';

describeWithPostgres('commandOutbox, with commands that fail for ever', () => {
  const ends: (() => unknown)[] = [];
  // before the pool ends, which waits for the connection of the outbox
  afterEach(async () => {
    for (const end of ends.splice(0)) await end();
  });
  const database = withDatabase();
  const world = outboxes(database);

  /** Sends until the test ends. The submissions of some commands are replaced. */
  const sendBad = (
    { outbox, ledger }: OutboxWorld,
    bad$: Observable<SubmittedTransaction>,
    options: SubmitAllOptions = {},
  ): readonly string[] => {
    const seen: string[] = [];
    const failing: Ledger = {
      ...ledger,
      submitAndWaitForTransaction: (request, how) =>
        request.commandId?.startsWith('bad') === true
          ? defer(() => {
              seen.push(`sent ${request.commandId ?? ''}`);
              return bad$;
            })
          : ledger.submitAndWaitForTransaction(request, how),
    };
    const sending = outbox.submitAll(failing, { ...soon, ...options }).subscribe(({ _tag, commandId }) => {
      seen.push(`${_tag} ${commandId}`);
    });
    ends.push(() => {
      sending.unsubscribe();
    });
    return seen;
  };

  const enqueue = async ({ outbox, create, inTransaction }: OutboxWorld, ...ids: readonly string[]): Promise<void> => {
    await inTransaction(async (tx) => {
      for (const id of ids) await outbox.enqueue(tx, create(id));
    });
  };

  const unknown = (commandId: string): OutcomeUnknownError =>
    new OutcomeUnknownError(
      { submissionId: 's', commandId, userId: 'app', actAs: ['alice'], sentAt: 0, attempts: 1 },
      new ConnectionError('/', 'reset'),
    );

  it('sends the one that has been due longest, so that none of them keeps others waiting', async () => {
    const here = await world();
    await enqueue(here, 'bad-1', 'bad-2', 'good');
    // they are always due
    const retry = { baseDelayMs: 1, maxDelayMs: 1 };
    const seen = sendBad(
      here,
      throwError(() => unknown('bad')),
      { concurrency: 1, retry },
    );
    await until(() => seen.includes('Committed good'), 15_000);
    expect(seen.filter((line) => line.startsWith('sent')).length).toBeLessThan(10);
  });

  it('gives the places of those that take long to others', async () => {
    const here = await world();
    await enqueue(here, 'bad-1', 'bad-2', 'bad-3', 'bad-4', 'good');
    const seen = sendBad(here, NEVER);
    await until(() => seen.includes('Committed good'), 15_000);
  }, 30_000);

  it('sends a command again although the clock of the database was set back', async () => {
    const here = await world();
    await enqueue(here, 'one');
    await database.pool.query("UPDATE canton_rx_outbox SET failures = 1, retry_at = now() + interval '1 hour'");
    const seen = sendBad(here, NEVER);
    await until(() => seen.includes('Committed one'), 15_000);
  });

  it('drops a command that is being sent, and the next of its key is sent', async () => {
    const here = await world();
    const { outbox, create, inTransaction, rows, sandbox } = here;
    await inTransaction(async (tx) => {
      await outbox.enqueue(tx, create('bad'), { key: 'k' });
      await outbox.enqueue(tx, create('next'), { key: 'k' });
    });
    const seen = sendBad(here, NEVER);
    await until(() => seen.includes('sent bad'));
    expect(await firstValueFrom(outbox.drop(1))).toBe(true);
    await until(() => seen.includes('Committed next'), 15_000);
    expect(seen).toEqual(['sent bad', 'Committed next']);
    expect(await rows()).toMatchObject([
      { state: 'dropped', may_be_committed: true },
      { state: 'committed', may_be_committed: false },
    ]);
    expect(committedIds(sandbox)).toEqual(['next']);
    expect(await firstValueFrom(outbox.drop(1))).toBe(false);
    expect(await firstValueFrom(outbox.drop(2))).toBe(false);
  });

  it('drops a command that is tried again later', async () => {
    const here = await world();
    const { outbox, rows } = here;
    await enqueue(here, 'bad');
    const retry = { baseDelayMs: 60_000, maxDelayMs: 60_000 };
    const seen = sendBad(
      here,
      throwError(() => unknown('bad')),
      { retry },
    );
    await until(() => seen.includes('Unknown bad'));
    expect(await firstValueFrom(outbox.drop(1))).toBe(true);
    expect(await rows()).toMatchObject([{ state: 'dropped' }]);
  });

  it('counts a command as running while it is sent, also again after an unknown outcome', async () => {
    const here = await world();
    const { outbox, ledger } = here;
    await enqueue(here, 'bad');
    let sent = 0;
    const bad$ = defer(() => ((sent += 1) < 3 ? throwError(() => unknown('bad')) : NEVER));
    sendBad(here, bad$);
    const status$ = outbox.submitAll(ledger).status$;
    await until(() => sent === 3);
    expect(await firstValueFrom(status$)).toMatchObject({ due: 0, running: 1, waiting: 0 });
    expect(await here.rows()).toMatchObject([{ failures: 2, reason: 'unknown' }]);
    // the view for SQL counts in the same way
    const { rows: view } = await database.pool.query('SELECT pending, sending, unknown FROM canton_rx_outbox_status');
    expect(view).toEqual([{ pending: '0', sending: '1', unknown: '0' }]);
    await database.pool.query("UPDATE canton_rx_outbox SET state = 'parked'");
    expect(await firstValueFrom(outbox.retry(1))).toBe(true);
    expect(await firstValueFrom(status$)).toMatchObject({ due: 1, running: 0 });
  });

  it('has a status: what is parked, waits, is due and is sent, also while the database is away', async () => {
    const here = await world();
    const { outbox, ledger, create, inTransaction } = here;
    const sending = outbox.submitAll(ledger, { ...soon, concurrency: 1 });
    const status = (): Promise<OutboxStatus> => firstValueFrom(sending.status$);
    expect(await status()).toMatchObject({
      outbox: 'commands',
      role: 'starting',
      state: 'waiting',
      due: 0,
      oldestMs: 0,
    });
    await inTransaction(async (tx) => {
      for (const id of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) await outbox.enqueue(tx, create(id), { key: 'k' });
    });
    const set = (id: string, change: string) =>
      database.pool.query(`UPDATE canton_rx_outbox SET ${change} WHERE command_id = '${id}'`);
    await set('a', `state = 'parked', key = NULL, enqueued_at = now() - interval '1 day'`);
    await set('b', `retry_at = now() + interval '1 minute', key = NULL`);
    await set('c', `may_be_committed = true, key = NULL, enqueued_at = now() - interval '1 hour'`);
    await set('g', `state = 'committed'`);
    // d is the first of its key
    expect(await status()).toMatchObject({ parked: 1, running: 1, due: 1, waiting: 3 });
    expect((await status()).oldestMs).toBeGreaterThanOrEqual(3_600_000);
    await set('a', `state = 'dropped'`);
    await database.pool.query('UPDATE canton_rx_outbox SET retry_at = NULL, may_be_committed = false');
    const run = sending.subscribe();
    ends.push(() => {
      run.unsubscribe();
    });
    await until(async () => {
      const { waiting, due, running } = await status();
      return waiting + due + running === 0;
    });
    expect(await status()).toMatchObject({ role: 'leader', state: 'running', parked: 0, oldestMs: 0 });
    run.unsubscribe();
    expect(await status()).toMatchObject({ role: 'starting', state: 'ended' });
    await database.pool.query('DROP TABLE canton_rx_outbox CASCADE');
    const other$ = outbox.submitAll(ledger).status$;
    expect(await firstValueFrom(other$)).toMatchObject({
      state: 'disconnected',
      error: expect.stringContaining('canton_rx_outbox'),
    });
  });
});
