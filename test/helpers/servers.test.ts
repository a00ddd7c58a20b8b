import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { connect } from '@nats-io/transport-node';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import pg from 'pg';
import { describeWithNats, natsServer } from './natsServer.js';
import { describeWithPostgres, postgresServer } from './postgresServer.js';
import { guard, isAlive, sendSignal, startProcess, type TestServer } from './servers.js';
import { until } from './time.js';

describeWithPostgres('a PostgreSQL for tests', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await postgresServer();
  });
  afterAll(() => server.stop());

  const query = async (sql: string): Promise<readonly unknown[]> => {
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    try {
      const { rows } = await client.query<Record<string, unknown>>(sql);
      return rows;
    } finally {
      await client.end();
    }
  };

  it('keeps what is committed, through a crash and a restart', async () => {
    await query('create table kept (id int)');
    await query('insert into kept values (1)');
    await server.crash();
    await expect(query('select 1')).rejects.toThrow();
    await server.start();
    await query('insert into kept values (2)');
    await server.restart();
    expect(await query('select id from kept order by id')).toEqual([{ id: 1 }, { id: 2 }]);
  });
});

describeWithNats('a NATS server for tests', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await natsServer();
  });
  afterAll(() => server.stop());

  it('keeps its streams, through a crash and a restart', async () => {
    const publish = async (): Promise<number> => {
      const connection = await connect({ servers: server.url });
      try {
        await (await jetstreamManager(connection)).streams.add({ name: 'kept', subjects: ['kept'] });
        return (await jetstream(connection).publish('kept', 'x')).seq;
      } finally {
        await connection.close();
      }
    };
    expect(await publish()).toBe(1);
    await server.crash();
    await expect(publish()).rejects.toThrow();
    await server.start();
    expect(await publish()).toBe(2);
    await server.restart();
    expect(await publish()).toBe(3);
  });
});

it('a server does not outlive a test process that is killed, and leaves no folder', async () => {
  const script = `
    import { mkdtempSync } from 'node:fs';
    import { spawn } from 'node:child_process';
    const folder = mkdtempSync(${JSON.stringify(`${tmpdir()}/canton-rx-orphan-`)});
    const shell = spawn('sh', ['-c', process.argv[1], 'sh', folder + '/log', folder, 'sleep', '1000']);
    shell.stdout.once('data', (pid) => console.log(folder + ' ' + String(pid).trim()));
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, guard], { stdio: ['ignore', 'pipe', 2] });
  let said = '';
  child.stdout?.on('data', (chunk: Buffer) => (said += String(chunk)));
  await until(() => said.endsWith('\n'));
  const [folder = '', pid = ''] = said.trim().split(' ');
  expect(isAlive(Number(pid))).toBe(true);
  child.kill('SIGKILL');
  await until(() => !isAlive(Number(pid)) && !existsSync(folder));
});

it('the end of a server is detected', async () => {
  const server = await startProcess(['sleep', '1000'], { log: '/dev/null', folder: '/nowhere' });
  expect(server.hasExited()).toBe(false);
  sendSignal([server.pid], 'SIGKILL');
  await server.exited;
  expect(server.hasExited()).toBe(true);
});
