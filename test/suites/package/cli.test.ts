import { execFile, spawn, type ChildProcess } from 'node:child_process';
import type { EventEmitter } from 'node:events';
import { cp, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { postgresStoreSql } from '../../../src/postgres/index.js';
import { sandboxes } from '../../helpers/localServers.js';
import { describeWithPostgres, postgresServer, type PostgresServer } from '../../helpers/postgresServer.js';
import { until } from '../../helpers/time.js';
import { root } from './project.js';

const sh = promisify(execFile);
const newSandbox = sandboxes();
const bin = join(root, 'dist', 'cli', 'main.js');
const bash = (script: string, url = ''): Promise<{ stdout: string; stderr: string }> =>
  sh('bash', ['-o', 'pipefail', '-c', script], { env: { ...process.env, BIN: bin, LEDGER: url } });

/** The first value of an event. */
const first = (emitter: EventEmitter, event: string): Promise<unknown> =>
  new Promise((resolve) => {
    emitter.once(event, (value: unknown) => {
      resolve(value);
    });
  });

/** The exit code and the lines of a command that may fail. */
const ended = async (child: ChildProcess): Promise<{ code: unknown; stdout: string[]; stderr: string[] }> => {
  const text = { stdout: '', stderr: '' };
  child.stdout?.on('data', (chunk: Buffer) => (text.stdout += String(chunk)));
  child.stderr?.on('data', (chunk: Buffer) => (text.stderr += String(chunk)));
  const code = await first(child, 'close');
  const lines = (all: string): string[] => all.split('\n').filter((line) => line !== '');
  return { code, stdout: lines(text.stdout), stderr: lines(text.stderr) };
};

let sandbox: ChildProcess;
let url = '';
beforeAll(async () => {
  sandbox = spawn('node', [bin, 'sandbox', '--port', '0', '--updates', '300'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let greeting = '';
  sandbox.stdout?.on('data', (chunk: Buffer) => (greeting += String(chunk)));
  await until(() => /http:\/\/127\.0\.0\.1:\d+\D/.test(greeting) || sandbox.exitCode !== null);
  url = /http:\/\/127\.0\.0\.1:\d+/.exec(greeting)?.[0] ?? '';
});
afterAll(async () => {
  const closed = first(sandbox, 'close');
  let text = '';
  sandbox.stderr?.on('data', (chunk: Buffer) => (text += String(chunk)));
  sandbox.kill('SIGTERM');
  expect(await closed).toBe(0);
  expect(text).toBe('stopped\n');
});

describe('canton-rx', () => {
  it.each(['--help', 'completion bash', 'check --ledger "$LEDGER"', 'tail --ledger "$LEDGER" --to 5'])(
    'fails with a message if stdout cannot be written to: %s',
    async (line) => {
      const { stderr } = await bash(`! node "$BIN" ${line} > /dev/full`, url);
      expect(stderr).toMatch(/^canton-rx: cannot write to stdout: ENOSPC[^\n]*\n$/);
    },
  );
});

describe('canton-rx tail', () => {
  it('ends without an error when its reader ends', async () => {
    const { stdout, stderr } = await bash('node "$BIN" tail --ledger "$LEDGER" | head -1', url);
    expect(JSON.parse(stdout)).toHaveProperty('_tag');
    expect(stderr).toBe('');
  });

  it('prints the offset to resume from on Ctrl-C', async () => {
    const child = spawn('node', [bin, 'tail', '--ledger', url]);
    child.stdout.once('data', () => child.kill('SIGINT'));
    const { code, stdout, stderr } = await ended(child);
    expect(code).toBe(0);
    const last = /"offset":(\d+)/.exec(stdout.at(-1) ?? '')?.[1] ?? '';
    expect(stderr).toEqual([`resume with --from ${last}`]);
  });

  it.each(['SIGTERM', 'SIGHUP'] as const)(
    'prints the offset to resume from on %s, before the first update',
    async (signal) => {
      const ledger = await newSandbox();
      const child = spawn('node', [bin, 'tail', '--from', 'end', '--ledger', ledger.url]);
      const isOver = ended(child);
      await until(() => ledger.requests.some(({ path }) => path.includes('/updates')));
      child.kill(signal);
      const { code, stderr } = await isOver;
      expect(code).toBe(0);
      expect(stderr.at(-1)).toMatch(/^(?:resume with --from \d+|stopped)$/);
    },
  );

  it.each([['tail'], ['tail', '--ledger', 'x'], ['tail', '--token', 'secret'], ['nothing'], []])(
    'prints one line about bad arguments, and exits with 2: %j',
    async (...args) => {
      const { code, stdout, stderr } = await ended(
        spawn('node', [bin, ...args], { env: { PATH: process.env['PATH'] } }),
      );
      expect({ code, stdout }).toEqual({ code: 2, stdout: [] });
      expect(stderr).toHaveLength(1);
      expect(stderr[0]).not.toContain('secret');
    },
  );
});

describe('canton-rx contracts', () => {
  it('prints contracts to a pipe as JSON, and their number to stderr', async () => {
    const { stdout, stderr } = await bash('node "$BIN" contracts --ledger "$LEDGER"', url);
    const lines = stdout.trimEnd().split('\n');
    expect(lines.length).toBeGreaterThan(50);
    expect(lines.every((line) => line.startsWith('{"_tag":"Contract","type":"#sandbox-'))).toBe(true);
    expect(stderr).toContain(`${lines.length} contracts`);
  });

  it('ends without an error when its reader ends', async () => {
    for (const options of ['', '--follow', '--pretty']) {
      const { stdout, stderr } = await bash(`node "$BIN" contracts ${options} --ledger "$LEDGER" | head -1`, url);
      expect(stdout).not.toBe('');
      expect(stderr.replace(/^\d+ contracts.*\n$/, '')).toBe('');
    }
  }, 60_000);

  it('ends with 0 on Ctrl-C while it follows', async () => {
    const child = spawn('node', [bin, 'contracts', '--follow', '--ledger', url]);
    child.stdout.once('data', () => child.kill('SIGINT'));
    const { code, stdout, stderr } = await ended(child);
    expect(code).toBe(0);
    expect(stdout[0]).toMatch(/^\{"_tag":"Reset","reason":"start",/);
    expect(stderr.at(-1)).toMatch(/^\d+ contracts at offset \d+$/);
  });
});

describeWithPostgres('canton-rx with a database', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await postgresServer();
  });
  afterAll(() => server.stop());

  it('prints no warnings of the package pg when it rewinds a processor', async () => {
    const pool = new pg.Pool({ connectionString: server.url });
    pool.on('error', () => undefined);
    await pool.query(postgresStoreSql());
    const cursor = { version: 1, offset: 7, selection: 'fnv1a:0', recordTimes: {} };
    await pool.query(`INSERT INTO canton_rx_cursors VALUES ('rewound', $1, 1)`, [JSON.stringify(cursor)]);
    await pool.end();
    const rewind = ['processors', 'rewind', '--name', 'rewound', '--to', '3', '--database', server.url];
    expect(await ended(spawn('node', [bin, ...rewind]))).toEqual({
      code: 0,
      stdout: ['the processor rewound continues after offset 3, and handles later updates again'],
      stderr: [],
    });
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('stops on %s, and the same command continues', async (signal) => {
    const child = spawn('node', [
      bin,
      'project',
      '--ledger',
      url,
      '--database',
      server.url,
      '--schema',
      signal.toLowerCase(),
    ]);
    child.stderr.on('data', (chunk: Buffer) => {
      if (String(chunk).includes('caught up')) child.kill(signal);
    });
    const { code, stdout, stderr } = await ended(child);
    expect({ code, stdout }).toEqual({ code: 0, stdout: [] });
    expect(stderr.at(-1)).toMatch(/^the same command continues after offset \d+$/);
  });

  it('ends on SIGTERM while the database does not answer', async () => {
    const child = spawn('node', [bin, 'project', '--ledger', url, '--database', server.url, '--schema', 'silent']);
    child.stderr.on('data', (chunk: Buffer) => {
      if (String(chunk).includes('caught up')) void server.pause().then(() => child.kill('SIGTERM'));
    });
    try {
      const { code, stderr } = await ended(child);
      expect(code).toBe(0);
      expect(stderr.at(-2)).toBe('stopped');
    } finally {
      child.kill('SIGKILL');
      await server.resume();
    }
  }, 30_000);
});

/** Prints to stderr each module that Node.js loads. */
const printLoads = (() => {
  const hook = `import { writeSync } from 'node:fs'; export const load = (url, context, next) => { writeSync(2, url + '\\n'); return next(url, context); };`;
  const url = (text: string): string => `data:text/javascript,${encodeURIComponent(text)}`;
  return url(`import { register } from 'node:module'; register(${JSON.stringify(url(hook))});`);
})();

/** The files that Node.js loads for a command line, relative to the package. */
const loadedBy = async (...args: readonly string[]): Promise<readonly string[]> => {
  const { code, stderr } = await ended(spawn('node', ['--import', printLoads, bin, ...args]));
  expect(code).toBe(args.length === 0 ? 2 : 0);
  return stderr
    .filter((line) => line.startsWith('file:'))
    .map((line) => line.replace(/^.*\/(?=dist\/|node_modules\/)/, ''));
};

describe('a cold start', () => {
  // few small files: as fast as Node.js itself, whatever the machine
  it.each([['--version'], ['--help'], ['tail', '--help'], ['project', '--help'], ['help', 'demo']])(
    'loads the texts alone for %s %s, and nothing of the library or of its packages',
    async (...args) => {
      expect([...(await loadedBy(...args))].sort()).toEqual([
        'dist/cli/help.js',
        'dist/cli/ledgerCommands.js',
        'dist/cli/main.js',
        'dist/cli/options.js',
        'dist/cli/terminal.js',
        'dist/cli/toolCommands.js',
        'dist/errors/escapeText.js',
      ]);
    },
  );

  it('loads no command before it is known which one runs', async () => {
    const loaded = await loadedBy();
    expect(loaded.filter((file) => /^dist\/(?!cli|cjs|errors|codecs)/.test(file))).toEqual([]);
    const before = ['World', 'arguments', 'help', 'ledgerCommands', 'main', 'options', 'run', 'shell'];
    expect(loaded.filter((file) => file.startsWith('dist/cli/')).sort()).toEqual(
      [...before, 'terminal', 'toolCommands'].map((name) => `dist/cli/${name}.js`),
    );
  });
});

describe('canton-rx demo', () => {
  it('names the optional packages that it lacks; the other commands do not need them', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'canton-rx-'));
    try {
      await mkdir(join(folder, 'node_modules'));
      const needed = ['rxjs', 'ky', 'io-ts', 'fp-ts', 'tslib'].map((name) => join('node_modules', name));
      for (const path of needed) await symlink(join(root, path), join(folder, path));
      for (const path of ['dist', 'package.json']) await cp(join(root, path), join(folder, path), { recursive: true });
      const run = (...args: string[]) => ended(spawn('node', [join(folder, 'dist', 'cli', 'main.js'), ...args]));
      expect((await run('tail', '--help')).code).toBe(0);
      const { code, stdout, stderr } = await run('demo');
      expect({ code, stdout }).toEqual({ code: 1, stdout: [] });
      expect(stderr).toEqual([expect.stringContaining('npm install @canton-network/core-ledger-proto')]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe('canton-rx check', () => {
  it('writes to a pipe without colours, with an exit code for the result', async () => {
    const { stdout } = await bash('node "$BIN" check --ledger "$LEDGER"', url);
    expect(stdout).toContain('\nno problems\n');
    expect(stdout).not.toContain('\u001b');
    const { code } = await ended(spawn('node', [bin, 'check', '--json', '--ledger', 'http://127.0.0.1:9']));
    expect(code).toBe(3);
  });
});

describe('the demo', () => {
  it('shows updates with two submissions among them, and ends by itself', async () => {
    const { stdout } = await bash('node "$BIN" demo');
    expect(stdout.match(/^✓ .*matched/gm)).toHaveLength(2);
    expect(stdout).not.toContain('\u001b');
  });
});
