import { expect, it } from '@jest/globals';
import { describeWithPostgres } from '../helpers/postgresServer.js';
import { outboxes } from '../postgres/outboxSupport.js';
import { withDatabase } from '../postgres/support.js';
import { tcpProxy } from '../helpers/localServers.js';
import { capture, runCli } from './runCli.js';

describeWithPostgres('canton-rx outbox', () => {
  const database = withDatabase();
  const world = outboxes(database);

  const cli = async (...line: readonly string[]): Promise<readonly [number, string]> => {
    const { options } = database.pool;
    const url = options.connectionString ?? '';
    const run = runCli(['outbox', ...line], { env: { CANTON_RX_DATABASE_URL: url } });
    return [await run.code, run.out.text() + run.err.text()];
  };

  it('lists what is not done, sends a parked command again, and drops one', async () => {
    const { outbox, create, inTransaction, rows } = await world();
    await inTransaction(async (tx) => {
      for (const id of ['a', 'b', 'c', 'd', 'e']) await outbox.enqueue(tx, create(id), { key: `key-${id}` });
    });
    const set = (id: string, change: string) =>
      database.pool.query(`UPDATE canton_rx_outbox SET ${change} WHERE command_id = '${id}'`);
    await set('a', `state = 'parked', reason = 'invalid', error = 'a field is missing'`);
    await set('b', `retry_at = now() + interval '1 minute', failures = 2, reason = 'timeout'`);
    await set('c', `may_be_committed = true, reason = 'unknown', failures = 1`);
    await set('e', `state = 'committed'`);
    const [code, text] = await cli('list');
    expect(code).toBe(0);
    expect(text.split('\n').map((line) => line.split('\t').filter((_, n) => [1, 2, 4, 5].includes(n)))).toEqual([
      ['id 1', 'a', 'parked', 'failures 0'],
      ['id 2', 'b', 'waiting', 'failures 2'],
      ['id 3', 'c', 'running', 'failures 1'],
      ['id 4', 'd', 'due', 'failures 0'],
      [],
    ]);
    expect(text).toContain('a field is missing');
    await inTransaction((tx) => outbox.enqueue(tx, create('blocked'), { key: 'key-a' }));
    expect((await cli('list'))[1]).toMatch(/\tblocked\tkey key-a\twaiting\t/);
    await set('blocked', `state = 'committed'`);
    await inTransaction((tx) => outbox.enqueue(tx, { decide: 'pay', actAs: ['a'], commandId: 'f' }));
    expect((await cli('list'))[1]).toMatch(/\tf\t.*\tdecided by pay\t/);
    await set('f', `state = 'committed'`);
    await set('a', `error = E'\\x1b[31mred\\x07'`);
    expect((await cli('list'))[1]).toContain(String.raw`\u{1b}[31mred\u{7}`);
    expect(await cli('list', '--name', 'other')).toEqual([0, '']);
    expect(await cli('retry', '--id', '1')).toEqual([0, 'command 1 of commands is sent again\n']);
    expect(await cli('retry', '--id', '1')).toEqual([
      1,
      expect.stringContaining('command 1 of commands is not parked'),
    ]);
    expect(await cli('drop', '--id', '3')).toEqual([0, expect.stringContaining('dropped command 3 of commands\n')]);
    expect(await cli('drop', '--id', '4')).toEqual([0, 'dropped command 4 of commands\n']);
    expect((await cli('drop', '--id', '5'))[0]).toBe(1);
    expect((await rows()).map(({ state }) => state)).toEqual([
      'pending',
      'pending',
      'dropped',
      'dropped',
      'committed',
      'committed',
      'committed',
    ]);
    expect((await cli('retry'))[0]).toBe(2);
    expect((await cli('drop', '--id', 'x'))[0]).toBe(2);
    expect((await cli())[0]).toBe(2);
  });

  it.each(['retry', 'drop'])('says that %s may be done if its answer is lost', async (action) => {
    const { outbox, create, inTransaction, rows } = await world();
    await inTransaction((tx) => outbox.enqueue(tx, create('a')));
    await database.pool.query(`UPDATE canton_rx_outbox SET state = 'parked'`);
    const proxy = await tcpProxy(database.server.url, (client, server) => {
      let isSent = false;
      client.on('data', (bytes: Buffer) => {
        isSent ||= bytes.includes('UPDATE');
        server.write(bytes);
      });
      server.on('data', (bytes: Buffer) => {
        if (isSent) client.destroy();
        else client.write(bytes);
      });
    });
    const run = runCli(['outbox', action, '--id', '1', '--database', proxy.url]);
    expect([await run.code, run.err.text()]).toEqual([
      6,
      'canton-rx: the connection was closed, and the change may have been made, or may be made later; ' +
        'canton-rx outbox list shows whether it was, before you repeat it\n',
    ]);
    expect((await rows()).map(({ state }) => state)).not.toEqual(['parked']);
    proxy.close();
  });

  it('says on stderr what was done if stdout cannot be written to', async () => {
    const { outbox, create, inTransaction, rows } = await world();
    await inTransaction((tx) => outbox.enqueue(tx, create('a')));
    const out = capture({
      take: (_, written) => {
        written(new Error('ENOSPC'));
      },
    });
    const env = { CANTON_RX_DATABASE_URL: database.pool.options.connectionString ?? '' };
    const run = runCli(['outbox', 'drop', '--id', '1'], { out, env });
    expect([await run.code, run.err.text()]).toEqual([
      1,
      'canton-rx: cannot write to stdout: ENOSPC\ndropped command 1 of commands\n',
    ]);
    expect((await rows()).map(({ state }) => state)).toEqual(['dropped']);
  });

  it('says that a command which it drops may be committed', async () => {
    const { outbox, create, inTransaction } = await world();
    await inTransaction((tx) => outbox.enqueue(tx, create('a b')));
    await database.pool.query(`UPDATE canton_rx_outbox SET state = 'parked', may_be_committed = true`);
    expect(await cli('drop', '--id', '1')).toEqual([
      0,
      'dropped command 1 of commands\n' +
        'it may be committed: look for its command id a b in the ledger before you do the same in another way\n',
    ]);
  });
});
