import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { interval, Subscription } from 'rxjs';
import { afterEach, beforeEach, describe, it, expect } from '@jest/globals';
import { UsageError } from '../../src/cli/arguments.js';
import { socketPort } from '../../src/cli/tail/tail.js';
import { cantonError, type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/index.js';
import { captured, eventually, play, read } from './support.js';

let sandbox: Sandbox;
let folder: string;
let traffic: Subscription;

const start = async (options: SandboxOptions = {}): Promise<void> => {
  await sandbox.close();
  sandbox = await startSandbox(options);
  sandbox.generate(300);
};

beforeEach(async () => {
  traffic = new Subscription();
  folder = mkdtempSync(join(tmpdir(), 'canton-rx-'));
  sandbox = await startSandbox();
  sandbox.generate(300);
});

/** Something is new all the time, until the test ends. */
const keepGenerating = (): void => {
  traffic.add(interval(20).subscribe(() => sandbox.generate(1)));
};

afterEach(async () => {
  traffic.unsubscribe();
  await sandbox.close();
  rmSync(folder, { recursive: true });
});

/** The offsets that `tail` should print of everything that is there. */
const visible = async (...more: readonly string[]): Promise<readonly unknown[]> => {
  const { out } = await tailed('--to', String(sandbox.ledgerEnd), ...more);
  return read(out.text()).map(({ offset }) => offset);
};

const tailed = async (...options: readonly string[]) => {
  const played = play(['tail', '--ledger', sandbox.url, ...options]);
  return { ...played, code: await played.code };
};

describe('a range', () => {
  it('is printed as one JSON object a line, tag first, and ends', async () => {
    const { code, out, err } = await tailed('--from', '10', '--to', '60');

    expect(code).toBe(0);
    expect(err.text()).toBe('');
    const printed = read(out.text());
    expect(printed.length).toBeGreaterThan(10);
    expect(printed.every(({ offset }) => Number(offset) > 10 && Number(offset) <= 60)).toBe(true);
    expect(out.text().split('\n')[0]).toMatch(/^\{"_tag":"/);
  });

  it('is whole: what is printed in two parts is what is printed at once', async () => {
    const all = await visible();
    const [first, second] = [await visible('--to', '150'), await visible('--from', '150')];

    expect([...first, ...second]).toStrictEqual(all);
    expect(new Set(all).size).toBe(all.length);
  });

  it('may be empty', async () => {
    const { code, out } = await tailed('--from', '7', '--to', '7');

    expect([code, out.text()]).toStrictEqual([0, '']);
  });

  it('is printed in rows of a usual width where a terminal does not know its own', async () => {
    const out = captured({ isTTY: true, columns: 0 });
    const err = captured({ isTTY: true, columns: 0 });
    const env = { NO_COLOR: '1' };
    const { code } = play(['tail', '--ledger', sandbox.url, '--to', '3'], { env, out, err });
    await code;

    expect(out.text()).toMatch(/^ {7}1 {2}\d\d:\d\d:\d\d.* tx /m);
  });

  it('takes the address from the environment', async () => {
    const { code, out } = play(['tail', '--to', '60'], { env: { CANTON_RX_LEDGER_URL: sandbox.url } });

    expect(await code).toBe(0);
    expect(read(out.text()).length).toBeGreaterThan(10);
  });
});

describe('what is printed', () => {
  const printedBy = async (...options: readonly string[]) =>
    read((await tailed('--to', String(sandbox.ledgerEnd), ...options)).out.text());

  it('is of the variants asked for', async () => {
    const tags = (await printedBy('--variant', 'Reassignment', '--variant', 'TopologyTransaction')).map(
      ({ _tag }) => _tag,
    );

    expect(new Set(tags)).toStrictEqual(new Set(['Reassignment', 'TopologyTransaction']));
  });

  it('is of the synchronizers asked for', async () => {
    const [wanted = ''] = sandbox.synchronizers;
    const ids = (await printedBy('--synchronizer', wanted)).map(({ synchronizerId }) => synchronizerId);

    expect(new Set(ids)).toStrictEqual(new Set([wanted]));
  });

  it('is what the parties see of the templates, chosen by the ledger', async () => {
    const [alice = '', bob = ''] = sandbox.parties;
    await printedBy('--party', alice, '--party', bob, '--template', '#sandbox-tasks:Tasks.Model:Task');

    const body = JSON.stringify(sandbox.requests.at(-1)?.body);
    expect(body).toContain(alice);
    expect(body).toContain(bob);
    expect(body).toContain('"templateId":"#sandbox-tasks:Tasks.Model:Task"');
    expect(body).toContain('TRANSACTION_SHAPE_ACS_DELTA');
  });

  it('has exercises with --effects', async () => {
    expect(JSON.stringify(await printedBy())).not.toContain('ExercisedEvent');
    expect(JSON.stringify(await printedBy('--effects'))).toContain('ExercisedEvent');
  });
});

describe('the end', () => {
  it.each(['SIGINT', 'SIGTERM'])(
    'on %s prints where to resume, without a gap and without a repetition',
    async (signal) => {
      const all = await visible();
      const { code, out, err, signals } = play(['tail', '--ledger', sandbox.url]);
      await out.lines(20);
      signals.emit(signal);

      expect(await code).toBe(0);
      const cursor = /^resume with --from (\d+)\n$/.exec(err.text())?.[1] ?? '';
      const before = read(out.text()).map(({ offset }) => offset);
      const after = await visible('--from', cursor);
      expect([...before, ...after]).toStrictEqual(all);
      expect(signals.listenerCount(signal)).toBe(0);
    },
  );

  it('aborts the request that waits for what is new', async () => {
    // which no checkpoint answers
    await start({ earlyCheckpointMs: false });
    const { code, out, signals } = play(['tail', '--ledger', sandbox.url, '--from', 'end']);
    const before = sandbox.ledgerEnd;
    // the request for what is new is on its way when something is new
    sandbox.generate(1);
    keepGenerating();
    await out.lines(3);
    traffic.unsubscribe();
    // now one is on its way that has nothing to answer
    await eventually(() => sandbox.requests.at(-1)?.status === undefined);
    signals.emit('SIGINT');

    expect(await code).toBe(0);
    await eventually(() => sandbox.requests.at(-1)?.aborted === true);
    expect(read(out.text()).every(({ offset }) => Number(offset) > before)).toBe(true);
  });

  it('resumes after what was left out, too', async () => {
    const { code, err, signals } = play(['tail', '--ledger', sandbox.url, '--variant', 'UnknownUpdate']);
    // a checkpoint is left out as well; the first one says that all is read
    await eventually(() => sandbox.requests.filter(({ path }) => path === '/v2/updates/flats').length > 3);
    signals.emit('SIGINT');

    expect(await code).toBe(0);
    expect(Number(/--from (\d+)/.exec(err.text())?.[1])).toBeGreaterThan(200);
  });

  it('is quiet, and no failure, when nobody reads any more', async () => {
    const gone = Object.assign(new Error('write EPIPE'), { code: 'EPIPE' });
    let lines = 0;
    const out = captured({
      take: (_, done) => {
        lines += 1;
        setImmediate(done, lines > 1 ? gone : undefined);
      },
    });
    const { code, err } = play(['tail', '--ledger', sandbox.url], { out });

    expect(await code).toBe(0);
    expect(read(out.text())).toHaveLength(1);
    expect(err.text()).toBe('');
  });

  it('is a failure when stdout cannot be written to, and names no place to resume from', async () => {
    const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    const out = captured({ take: (_, done) => setImmediate(done, full) });
    const { code, err } = play(['tail', '--ledger', sandbox.url], { out });

    expect(await code).toBe(1);
    expect(err.text()).toBe('stdout cannot be written to: no space left on device\n');
  });

  it('comes after what waits for a slow reader', async () => {
    const out = captured({ take: (_, done) => setImmediate(done) });
    const { code } = play(['tail', '--ledger', sandbox.url, '--to', String(sandbox.ledgerEnd)], { out });

    expect(await code).toBe(0);
    expect(read(out.text()).map(({ offset }) => offset)).toStrictEqual(await visible());
  });
});

describe('a reader slower than the ledger', () => {
  it('holds the feed back, and gets everything once and in order', async () => {
    sandbox.generate(3_000);
    let most = 0;
    let release: (() => void) | undefined;
    const out = captured({
      take: (_, done) => {
        most = Math.max(most, out.output.writableLength);
        if (release === undefined) release = done;
        else done();
      },
    });
    const end = String(sandbox.ledgerEnd);
    const { code } = play(['tail', '--ledger', sandbox.url, '--to', end], { out });
    await eventually(() => out.output.writableLength >= 2 ** 20);
    const turns = async (): Promise<void> => {
      for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setTimeout(resolve, 1));
    };
    // what was on its way when it was left arrives yet
    await turns();
    const asked = sandbox.requests.length;
    // nothing more is asked for while it stands
    await turns();
    expect(sandbox.requests).toHaveLength(asked);
    release?.();

    expect(await code).toBe(0);
    expect(most).toBeLessThan(2 ** 20 + 2 ** 16);
    expect(read(out.text()).map(({ offset }) => offset)).toStrictEqual(await visible());
    expect(out.text().length).toBeGreaterThan(2 ** 21);
  });
});

describe('tail --websocket', () => {
  it('prints what the ledger pushes', async () => {
    const { out, signals, code } = play(['tail', '--ledger', sandbox.url, '--from', 'end', '--websocket']);
    await eventually(() => sandbox.requests.some(({ status }) => status === 101));
    sandbox.generate(3, { variants: ['Transaction'] });
    await out.lines(3);
    const polls = sandbox.requests.filter(({ method, path }) => method === 'POST' && path === '/v2/updates/flats');
    signals.emit('SIGINT');

    expect(await code).toBe(0);
    expect(polls.length).toBeLessThanOrEqual(1);
  });

  it('prints as well where no socket is to be had', async () => {
    sandbox.fault({ kind: 'socket', how: 'refuse', status: 404 });
    const { out, signals, code } = play(['tail', '--ledger', sandbox.url, '--from', 'end', '--websocket']);
    keepGenerating();
    await out.lines(3);
    signals.emit('SIGINT');

    expect(await code).toBe(0);
  });

  it('needs a package, or sockets of Node.js itself', async () => {
    const missing = Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' });
    const had = Object.getOwnPropertyDescriptor(globalThis, 'WebSocket');
    Reflect.deleteProperty(globalThis, 'WebSocket');
    try {
      await expect(socketPort(() => Promise.reject(missing))).rejects.toThrow(UsageError);
      Object.defineProperty(globalThis, 'WebSocket', { value: () => undefined, configurable: true });
      expect(await socketPort(() => Promise.reject(missing))).toBeUndefined();
    } finally {
      Reflect.deleteProperty(globalThis, 'WebSocket');
      if (had !== undefined) Object.defineProperty(globalThis, 'WebSocket', had);
    }
    await expect(socketPort(() => Promise.reject(new Error('flaw')))).rejects.toThrow('flaw');
    expect(await socketPort()).toBeInstanceOf(Function);
  });
});

describe('the token', () => {
  const secret = 'eyJhbGciOi.s3cret.token';

  it('comes from the environment, and shows nowhere', async () => {
    await start({ checkToken: (token) => token === secret });
    const { code, out, err } = play(['tail', '--ledger', sandbox.url, '--to', '60'], {
      env: { CANTON_RX_LEDGER_TOKEN: secret },
    });

    expect(await code).toBe(0);
    expect(out.text() + err.text()).not.toContain('s3cret');
  });

  it('comes from a file, read anew for every request', async () => {
    const file = join(folder, 'token');
    let good = `${secret}1`;
    writeFileSync(file, `${good}\n`);
    await start({ checkToken: (token) => token === good });
    const { code, out, err, signals } = play(['tail', '--ledger', sandbox.url, '--token-file', file]);
    await out.lines(250);
    good = `${secret}2`;
    writeFileSync(file, `${good}\n`);
    const before = sandbox.ledgerEnd;
    keepGenerating();
    await eventually(() => read(out.text()).some(({ offset }) => Number(offset) > before + 3));
    signals.emit('SIGINT');

    expect(await code).toBe(0);
    expect(out.text() + err.text()).not.toContain('s3cret');
  });

  it('of the file wins over that of the environment', async () => {
    const file = join(folder, 'token');
    writeFileSync(file, secret);
    await start({ checkToken: (token) => token === secret });
    const { code } = play(['tail', '--ledger', sandbox.url, '--to', '60', '--token-file', file], {
      env: { CANTON_RX_LEDGER_TOKEN: 'another' },
    });

    expect(await code).toBe(0);
  });

  it('that is refused ends it, and shows nowhere', async () => {
    await start({ checkToken: () => false });
    const { code, out, err } = play(['tail', '--ledger', sandbox.url], { env: { CANTON_RX_LEDGER_TOKEN: secret } });

    expect(await code).toBe(1);
    expect(out.text()).toBe('');
    expect(err.text()).toBe('The ledger service refuses the token.\nPath: /v2/state/ledger-end\n');
  });
});

describe('a failure of the ledger', () => {
  it('is told without a stack, with where to resume', async () => {
    const played = play(['tail', '--ledger', sandbox.url, '--from', '3']);
    await played.out.lines(10);
    sandbox.fault(
      { kind: 'status', status: 403, body: cantonError('PERMISSION_DENIED') },
      { path: /updates|ledger-end/ },
    );
    keepGenerating();

    expect(await played.code).toBe(1);
    const last = read(played.out.text()).at(-1)?.['offset'];
    expect(played.err.text()).toMatch(/^The ledger service answered 403/);
    expect(played.err.text().endsWith(`\nresume with --from ${String(last)}\n`)).toBe(true);
    expect(played.err.text()).not.toMatch(/^ +at /m);
  });

  it('may be an update that cannot be written; the place to resume from is before it', async () => {
    const deep = `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    let last = 0;
    // the third update of the page has a field that is too deep for JSON.stringify
    const body = (answer: unknown): string => {
      const parts = JSON.stringify(answer).split('{"update":');
      last = Number(/"offset":(\d+)/.exec(parts[2] ?? '')?.[1]);
      return parts
        .map((part, i) => (i === 3 ? part.replace('{"value":{', `{"value":{"deep":${deep},`) : part))
        .join('{"update":');
    };
    sandbox.fault({ kind: 'rewrite', body }, { path: /updates/ });
    const { code, out, err } = await tailed(
      '--variant',
      'Transaction',
      '--variant',
      'Reassignment',
      '--variant',
      'TopologyTransaction',
    );

    expect(code).toBe(1);
    expect(read(out.text())).toHaveLength(2);
    expect(err.text()).toContain(`resume with --from ${last}\n`);
  });

  it('shows no control characters of the ledger, and no line that looks like ours', async () => {
    const cause = 'bad\u001b[2J\nresume with --from 999';
    sandbox.fault(
      { kind: 'status', status: 400, body: { ...cantonError('INVALID_ARGUMENT'), cause } },
      { path: /updates/ },
    );
    const { err } = await tailed();

    expect(err.text()).toContain('400: bad [2J resume with --from 999\n');
    expect(err.text().match(/^resume.*$/gm)).toStrictEqual(['resume with --from 0']);
  });

  it('may be that the place is pruned', async () => {
    sandbox.prune(50);
    const { code, err } = await tailed('--from', '3');

    expect(code).toBe(1);
    expect(err.text()).toMatch(/^The ledger is pruned beyond the cursor\.\nEarliest offset: 50\n/);
    // what is left out, whoever goes on decides
    expect(err.text()).toContain('what was pruned is gone: --from 50 goes on without it\n');
    expect(err.text()).not.toContain('resume');
  });

  it('may be that the ledger has come beyond where it is to end', async () => {
    const { code, err } = await tailed('--from', 'end', '--to', '5');

    expect(code).toBe(1);
    expect(err.text()).toBe(`the ledger ends at ${sandbox.ledgerEnd}, beyond --to 5\n`);
  });

  it('is told at once when it cannot be reached at the start', async () => {
    await sandbox.close();
    const { code, err } = await tailed();

    expect(code).toBe(1);
    expect(err.text()).toMatch(/^The ledger service .*\n(.*\n)*Code: ECONNREFUSED\n/);
    expect(err.text()).not.toContain('resume');
  });

  it('is not that there is no ledger end to ask for', async () => {
    await start({ interfaceOnly: true });
    const { code, out } = await tailed('--to', '60');

    expect(code).toBe(0);
    expect(read(out.text()).length).toBeGreaterThan(10);
  });

  it('is waited for once it runs', async () => {
    const played = play(['tail', '--ledger', sandbox.url, '--to', String(sandbox.ledgerEnd)]);
    sandbox.fault({ kind: 'reset' }, { path: '/v2/updates/flats', times: 2 });

    expect(await played.code).toBe(0);
    expect(read(played.out.text()).map(({ offset }) => offset)).toStrictEqual(await visible());
  });
});
