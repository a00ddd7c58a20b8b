import { expect, it } from '@jest/globals';
import { describeWithPostgres } from '../helpers/postgresServer.js';
import { until } from '../helpers/time.js';
import { outboxes, soon } from '../postgres/outboxSupport.js';
import { withDatabase } from '../postgres/support.js';
import { ledgerWith, sdk } from './support.js';

describeWithPostgres('telemetry of an outbox', () => {
  const database = withDatabase();
  const world = outboxes(database);

  it('measures what waits, is due, runs or is parked, and counts commands by outcome', async () => {
    const { sandbox, outbox, create, alice, inTransaction } = await world();
    await inTransaction(async (tx) => {
      for (const id of ['parked', 'later', 'next', 'one', 'two']) await outbox.enqueue(tx, create(id), { key: 'k' });
      for (const decide of ['nothing', 'missing']) await outbox.enqueue(tx, { decide, actAs: [alice], userId: 'app' });
    });
    await database.pool.query("UPDATE canton_rx_outbox SET state = 'parked', key = NULL WHERE command_id = 'parked'");
    await database.pool.query(
      "UPDATE canton_rx_outbox SET retry_at = now() + interval '1 minute', enqueued_at = now() - interval '1 hour', key = NULL WHERE command_id = 'later'",
    );
    const telemetry = sdk();
    const ledger = ledgerWith({ baseUrl: sandbox.url }, telemetry);
    const seen: string[] = [];
    const fault = { kind: 'reject', code: 'LOCAL_VERDICT_LOCKED_CONTRACTS' } as const;
    sandbox.fault(fault, { path: '/v2/commands/submit-and-wait-for-transaction' });
    const options = { ...soon, recover: false, concurrency: 1, decide: { nothing: () => undefined } } as const;
    const sending = outbox.submitAll(ledger, options).subscribe(({ _tag }) => seen.push(_tag));
    const work = async (): Promise<Readonly<Record<string, number>>> =>
      Object.fromEntries(
        (await telemetry.measured('canton_rx.work')).map(({ attributes, value }) => {
          expect(attributes).toMatchObject({ 'canton_rx.outbox.name': 'commands' });
          return [String(attributes['canton_rx.work.state']), value] as const;
        }),
      );
    await until(() => seen.filter((tag) => tag === 'Committed').length === 3 && seen.length === 6);
    // as it was at the start: the first of the key is due, and the two that are decided are
    const { waiting, due, running, parked } = await work();
    expect([waiting, (due ?? 0) + (running ?? 0), parked]).toEqual([3, 3, 1]);
    const [age] = await telemetry.measured('canton_rx.work.age');
    expect(age).toMatchObject({ attributes: { 'canton_rx.outbox.name': 'commands' }, unit: 's' });
    expect(age?.value).toBeGreaterThanOrEqual(3_600);
    const commands = await telemetry.measured('canton_rx.commands');
    const counts = commands.map(({ attributes, value }) => [
      attributes['canton_rx.command.outcome'],
      attributes['error.type'],
      value,
    ]);
    expect(counts.toSorted()).toEqual([
      ['committed', undefined, 3],
      ['dropped', undefined, 1],
      ['failed', 'LOCAL_VERDICT_LOCKED_CONTRACTS', 1],
      ['parked', 'Error', 1],
    ]);
    sending.unsubscribe();
    // another process may send now, and reports the same outbox
    expect(await work()).toEqual({ waiting: 0, due: 0, running: 0, parked: 0 });
  });
});
