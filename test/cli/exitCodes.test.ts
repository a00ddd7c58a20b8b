import { readFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { cantonError, type SandboxRequest } from '../../src/sandbox/index.js';
import { until } from '../helpers/time.js';
import { transactionPath } from '../sandbox/commands.js';
import { listen, serveHttp } from './check/runCheck.js';
import { cliWorld } from './cliWorld.js';
import { type Capture, capture, runCli } from './runCli.js';

const world = cliWorld();

type Line = readonly [string, ...string[]];

/** Runs a command line on the sandbox, and emits a signal when a request has no answer. */
async function codeOf(line: Line, { out, signal }: { readonly out?: Capture; readonly signal?: string } = {}) {
  const earlier = world.sandbox.requests.length;
  const run = runCli(line, { env: { CANTON_RX_LEDGER_URL: world.sandbox.url }, ...(out && { out }) });
  if (signal !== undefined) {
    await until(() => world.sandbox.requests.slice(earlier).some(isOpen));
    run.signals.emit(signal);
  }
  return run.code;
}

/** Whether a request of the work of a command has no answer yet. */
const isOpen = ({ path, status }: SandboxRequest): boolean =>
  status === undefined && /updates|active-contracts|commands/.test(path);

const codesOf = async (...lines: readonly Line[]): Promise<readonly number[]> => {
  const codes: number[] = [];
  for (const line of lines) codes.push(await codeOf(line));
  return codes;
};

const failing = (code: string): Capture =>
  capture({
    take: (_, done) => {
      done(Object.assign(new Error(code), { code }));
    },
  });

const file = (): string => join(world.folder, 'updates.ndjson');
const replay = (...options: readonly string[]): Line => ['replay', '--to', '20', '--out', file(), ...options];
const submit = (...options: readonly string[]): Line => {
  const owner = world.sandbox.hostedParty('alice');
  const argument = JSON.stringify({ owner, amount: '1.0', serial: '1' });
  const create = ['--template', '#sandbox-assets:Main:Asset', '--argument', argument];
  return ['submit', '--user-id', 'me', '--act-as', owner, ...create, ...options];
};
/** A command of each kind that reads the ledger to an end. */
const reading = (): readonly Line[] => [['check'], ['tail', '--to', '20'], ['contracts'], replay(), submit()];

const refuse = (status: number, code: string, path = /./): void => {
  world.sandbox.fault({ kind: 'status', status, body: cantonError(code) }, { path, times: 1_000 });
};

/** The codes of the commands that read a ledger, at an address without one. */
const codesAt = async (url: string): Promise<readonly number[]> =>
  codesOf(...reading().map(([name, ...options]): Line => [name, '--ledger', url, ...options]));
const five = (code: number): readonly number[] => [code, code, code, code, code];

const answering = (status: number, headers = {}, body = ''): Promise<string> =>
  serveHttp((_, response) => {
    response.writeHead(status, headers).end(body);
  });

/** A part of the meaning of a code in the guide, and what shows it. The order is that of the guide. */
type Case = readonly [string, () => Promise<unknown>];

const cases: Readonly<Record<string, readonly Case[]>> = {
  0: [
    [
      'Success',
      async () => {
        expect(await codesOf(...reading())).toEqual(five(0));
      },
    ],
    [
      'Ctrl-C, SIGTERM or SIGHUP of a command without an end',
      async () => {
        for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) expect(await codeOf(['tail'], { signal })).toBe(0);
      },
    ],
    [
      'a reader that closes the pipe, as `head` does',
      async () => {
        expect(await codeOf(['tail', '--to', '20'], { out: failing('EPIPE') })).toBe(0);
      },
    ],
  ],
  1: [
    [
      'A failure that is not listed below',
      async () => {
        refuse(400, 'INVALID_ARGUMENT', /updates|active-contracts|commands/);
        expect(await codesOf(['tail', '--to', '20'], ['contracts'], replay(), submit())).toEqual([1, 1, 1, 1]);
      },
    ],
    [
      'stdout cannot be written to',
      async () => {
        const texts: readonly Line[] = [
          ['--help'],
          ['--version'],
          ['submit', '--help'],
          ['completion', 'bash'],
          ['demo'],
        ];
        for (const line of [['tail', '--to', '20'], ['contracts'], ['check'], ...texts] as readonly Line[]) {
          const run = runCli(line, { env: { CANTON_RX_LEDGER_URL: world.sandbox.url }, out: failing('ENOSPC') });
          expect([line, await run.code]).toEqual([line, 1]);
          expect(run.err.text()).toBe('canton-rx: cannot write to stdout: ENOSPC\n');
        }
        const sandbox = runCli(['sandbox', '--port', '0'], { out: failing('ENOSPC') });
        await sandbox.err.lines(1);
        expect(await sandbox.code).toBe(1);
      },
    ],
    [
      'not of a `submit` that has committed',
      async () => {
        expect(await codeOf(submit(), { out: failing('ENOSPC') })).not.toBe(1);
        // nothing is committed
        expect(await codeOf(submit('--dry-run'), { out: failing('ENOSPC') })).toBe(1);
      },
    ],
  ],
  2: [
    [
      'Bad arguments',
      async () => {
        const lines = ['check', 'tail', 'contracts', 'replay', 'submit', 'project', 'processors', 'parked'];
        const others = ['sandbox', 'completion', 'demo', 'unknown'];
        const codes = await codesOf(...[...lines, ...others].map((name): Line => [name, '--no-such-option']));
        expect(codes.every((code) => code === 2)).toBe(true);
      },
    ],
    [
      'for `replay` also other ones than the file was started with',
      async () => {
        const again = ['replay', '--out', file(), '--to'] as const;
        expect(await codesOf(replay(), replay('--variant', 'Transaction'), [...again, '20'])).toEqual([0, 2, 0]);
      },
    ],
  ],
  3: [
    [
      'No response: refused',
      async () => {
        const { url } = world.sandbox;
        await world.sandbox.close();
        expect(await codesAt(url)).toEqual(five(3));
      },
    ],
    [
      'no such host',
      async () => {
        expect(await codeOf(['check', '--ledger', 'http://nowhere.invalid'])).toBe(3);
      },
    ],
    [
      'no TLS',
      async () => {
        expect(await codesAt(world.sandbox.url.replace('http:', 'https:'))).toEqual(five(3));
      },
    ],
    [
      'a timeout',
      async () => {
        expect(await codeOf(['check', '--ledger', await listen(createServer(() => undefined))])).toBe(3);
      },
    ],
    [
      'a gateway or proxy that reports 407, 429, 502, 503 or 504',
      async () => {
        for (const status of [407, 429, 502, 503, 504])
          expect([status, await codeOf(['check', '--ledger', await answering(status)])]).toEqual([status, 3]);
        expect(await codesAt(await answering(407))).toEqual(five(3));
      },
    ],
  ],
  4: [
    [
      'The server is not a ledger',
      async () => {
        expect(await codeOf(['check', '--ledger', await answering(200, {}, '{}')])).toBe(4);
      },
    ],
    [
      'a web page',
      async () => {
        expect(await codesAt(await answering(200, { 'content-type': 'text/html' }, '<html>'))).toEqual(five(4));
      },
    ],
    [
      'a redirect',
      async () => {
        expect(await codesAt(await answering(302, { location: '/login' }))).toEqual(five(4));
      },
    ],
    [
      'the gRPC port',
      async () => {
        const settings = '\0\0\u0006\u0004\0\0\0\0\0\0\u0005\0\0@\0';
        const server = createServer((socket: Socket) => {
          socket.on('error', () => undefined).end(settings);
        });
        expect(await codesAt(await listen(server))).toEqual(five(4));
      },
    ],
    [
      'a wrong path prefix',
      async () => {
        expect(await codesAt(`${world.sandbox.url}/prefix`)).toEqual(five(4));
      },
    ],
  ],
  5: [
    [
      'The token is missing or refused',
      async () => {
        await world.restart({ checkToken: () => false });
        expect(await codesOf(...reading())).toEqual(five(5));
      },
    ],
    [
      'the user lacks rights',
      async () => {
        refuse(403, 'PERMISSION_DENIED');
        expect(await codesOf(...reading(), submit('--dry-run'))).toEqual([...five(5), 5]);
      },
    ],
  ],
  6: [
    [
      '`project`, `processors`, `parked`, `outbox`: the database, the schema or the package `pg` cannot be used',
      async () => {
        const database = ['--database', 'postgres://postgres@127.0.0.1:1/x'];
        const lines = [
          ['processors', 'list'],
          ['parked', 'list'],
          ['outbox', 'list'],
          ['project', 'verify'],
          ['project'],
        ];
        expect(await codesOf(...lines.map((line) => [...line, ...database] as unknown as Line))).toEqual([
          6, 6, 6, 6, 6,
        ]);
      },
    ],
    [
      '`submit`: the outcome is unknown',
      async () => {
        // an earlier attempt is committed, but the refusal does not say where
        refuse(409, 'DUPLICATE_COMMAND', /commands/);
        const run = runCli([...submit(), '--ledger', world.sandbox.url]);
        expect(await run.code).toBe(6);
        expect(run.err.text()).toMatch(/determine it with the same command and --command-id \S+ --since \d+\n$/);
      },
    ],
    [
      'the transaction is committed and stdout cannot be written to; stderr says which',
      async () => {
        const run = runCli([...submit(), '--ledger', world.sandbox.url], { out: failing('ENOSPC') });
        expect(await run.code).toBe(6);
        expect(run.err.text()).toMatch(/\ncommitted at offset \d+: /);
      },
    ],
  ],
  130: [
    [
      'Ctrl-C of `check` or `demo`',
      // they leave it to Node.js, which ends the process: a shell reports 130
      async () => {
        for (const name of ['check', 'demo']) {
          const { code, signals } = runCli([name], { env: { CANTON_RX_LEDGER_URL: world.sandbox.url } });
          expect(signals.listenerCount('SIGINT')).toBe(0);
          await code;
          expect(signals.listenerCount('SIGINT')).toBe(0);
        }
      },
    ],
    [
      '`contracts`, `replay` or `submit` was interrupted before its end',
      async () => {
        world.sandbox.fault({ kind: 'hang' }, { path: /updates|active-contracts/, times: 1_000 });
        world.sandbox.fault({ kind: 'hang' }, { path: transactionPath });
        for (const line of [['contracts'], replay(), submit()] as const)
          expect(await codeOf(line, { signal: 'SIGINT' })).toBe(130);
      },
    ],
  ],
};

const guide = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'command-line.md'), 'utf8');
const section = guide.split(/^## /m).find((text) => text.startsWith('Exit codes\n')) ?? '';
const rows = Array.from(section.matchAll(/^\| (\d+) +\| (.*?) *\|$/gm), ([, code = '', meaning = '']) => ({
  code,
  meaning,
}));

describe('the exit codes of the guide', () => {
  it.each(rows)('have a test for each part of $code', ({ code, meaning }) => {
    const parts = (cases[code] ?? []).map(([part]) => part);
    const between = parts.reduce((rest, part) => rest.replace(part, ''), meaning);
    expect(between).toMatch(/^(?:[\s.,:;]|also|and|or)*$/i);
    expect(parts.filter((part) => !meaning.includes(part))).toEqual([]);
  });

  it('are all in the table', () => {
    expect(rows.map(({ code }) => code)).toEqual(Object.keys(cases));
  });

  it.each(Object.entries(cases).flatMap(([code, parts]) => parts.map(([part, test]) => [code, part, test] as const)))(
    'has %s: %s',
    async (_, __, test) => {
      await test();
    },
    60_000,
  );
});
