import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, describe, expect, it } from '@jest/globals';
import { build } from 'esbuild';
import { freePort, sendSignal, until } from '../../helpers/servers.js';
import { alice, bob, secretOf } from '../../sse/support.js';
import { serverPrograms } from './serverPrograms.js';

/** The packages of the servers. Next.js is large: here its route handler is called as it does, and the examples run it. */
export const serverPackages = ['express@5.1.0', 'fastify@5.6.1', 'hono@4.9.9', '@hono/node-server@1.19.5'];

const children: ChildProcess[] = [];
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const over = once(child, 'exit');
    // with its children: the command of a package may be a script that starts the runtime
    sendSignal([-(child.pid ?? 0)], 'SIGKILL');
    await over;
  }
});

/** Starts a program in a folder with the packed library, and returns the port at which it listens. */
async function start(folder: string, name: string, program: string): Promise<number> {
  await writeFile(join(folder, `${name}.mjs`), program);
  const bin = (runtime: string): string => join(folder, 'node_modules', '.bin', runtime);
  const port = await freePort();
  const commands: Readonly<Record<string, readonly [string, ...string[]]>> = {
    bun: [bin('bun'), 'bun.mjs'],
    deno: [bin('deno'), 'run', '--quiet', '--allow-all', 'deno.mjs'],
    workerd: [bin('workerd'), 'serve', 'servers.capnp', `--socket-addr=http=127.0.0.1:${port}`],
  };
  if (name === 'workerd') await bundleWorker(folder);
  const [command, ...args] = commands[name] ?? [process.execPath, `${name}.mjs`];
  const child = spawn(command, args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  children.push(child);
  if (name === 'workerd') {
    await until(() => statusAt(port).then(Boolean, () => false));
    return port;
  }
  for await (const line of createInterface(child.stdout)) return Number(line);
  throw new Error(`${name} has ended`);
}

async function bundleWorker(folder: string): Promise<void> {
  const options = { entryPoints: [join(folder, 'workerd.mjs')], outfile: join(folder, 'servers.js') };
  await build({ ...options, bundle: true, format: 'esm', conditions: ['workerd', 'browser'], logLevel: 'error' });
  await writeFile(
    join(folder, 'servers.capnp'),
    `using Workerd = import "/workerd/workerd.capnp";
    const config :Workerd.Config = (
      services = [(name = "main", worker = (
        modules = [(name = "worker", esModule = embed "servers.js")],
        compatibilityDate = "2026-07-01",
        compatibilityFlags = ["enable_request_signal", "request_signal_passthrough"],
        durableObjectNamespaces = [(className = "Contracts", uniqueKey = "contracts")],
        durableObjectStorage = (inMemory = void),
        bindings = [(name = "CONTRACTS", durableObjectNamespace = "Contracts")],
      ))],
      sockets = [(name = "http", http = (), service = "main")],
    );`,
  );
}

const statusAt = async (port: number): Promise<number> => (await read(port, 'count')).length;

const request = (port: number, token: string, lastEventId?: string): Promise<Response> =>
  fetch(`http://127.0.0.1:${port}/contracts`, {
    headers: { authorization: `Bearer ${token}`, ...(lastEventId !== undefined && { 'last-event-id': lastEventId }) },
  });

/** The text of a stream that ends. */
const read = async (port: number, token: string): Promise<string> => (await request(port, token)).text();

/** How many feeds the server reads for its pages. */
const feedsOf = async (port: number): Promise<number> => Number(/"offset":(\d+)/.exec(await read(port, 'count'))?.[1]);

/** A page that reads a stream. */
async function open(port: number, user: string, lastEventId?: string) {
  const { body, status, headers } = await request(port, user, lastEventId);
  expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream']);
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  const receives = async (wanted: string): Promise<string> => {
    while (!text.includes(wanted)) {
      const { value, done = true } = (await reader?.read()) ?? {};
      if (done) throw new Error(`the stream has ended before ${wanted}: ${text.slice(0, 500)}`);
      text += value ?? '';
    }
    return text;
  };
  return {
    receives,
    close: () => reader?.cancel(),
    lastId: () =>
      text
        .match(/^id: .*$/gm)
        ?.at(-1)
        ?.slice(4),
  };
}

/** Reads nothing until `receives` is called. */
async function openSlowly(port: number, user: string) {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  socket.on('error', () => undefined).pause();
  await once(socket, 'connect');
  socket.write(`GET /contracts HTTP/1.1\r\nhost: app\r\nauthorization: Bearer ${user}\r\n\r\n`);
  return {
    resets: async (count: number): Promise<void> => {
      let resets = 0;
      let rest = '';
      socket.on('data', (chunk: Buffer) => {
        const text = rest + chunk.toString('latin1');
        resets += text.split('event: reset').length - 1;
        rest = text.slice(-'event: rese'.length);
      });
      socket.resume();
      await until(() => resets >= count);
    },
  };
}

/** Tests of the servers of the guide, in a folder where their packages are installed. */
export function describeServers(folder: () => string): void {
  describe('a server of the guide', () => {
    it.each(Object.entries(serverPrograms()))(
      'sends, resumes, cuts slow pages, and frees what it reads: %s',
      async (name, program) => {
        const port = await start(folder(), name, program);
        const [first, other] = [await open(port, alice), await open(port, bob)];
        await first.receives(secretOf('a'));
        expect(await other.receives(secretOf('b'))).not.toContain(secretOf('a'));
        await read(port, 'change');
        expect(await first.receives('event: changed')).toContain('"contractId":"c1"');
        const slow = await openSlowly(port, alice);
        const second = await open(port, alice);
        await second.receives('"contractId":"c1"');
        await first.close();
        await read(port, 'change');
        const resumed = await open(port, alice, first.lastId());
        expect(await resumed.receives('event: resumed')).not.toContain('event: reset');
        expect(await resumed.receives('"contractId":"c2"')).not.toContain(secretOf('b'));
        await Promise.all([resumed.close(), second.close()]);
        // 40 MB, of which a page that reads nothing gets what fits the sockets, and then all contracts
        for (let times = 0; times < 20; times += 1) await read(port, 'flood');
        await slow.resets(2);
        for (const socket of sockets.splice(0)) socket.destroy();
        await other.close();
        await until(async () => {
          // workerd notices that a page has left when it sends an event
          await read(port, 'change');
          return (await feedsOf(port)) === 0;
        });
      },
    );
  });
}
