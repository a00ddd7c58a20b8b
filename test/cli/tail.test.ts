import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { UsageError } from '../../src/cli/arguments.js';
import { loadTransport } from '../../src/cli/Session.js';
import { updateValue } from '../../src/sandbox/wire/WireUpdate.js';
import { until } from '../helpers/time.js';
import { cliWorld } from './cliWorld.js';
import { capture, parseLines, runCli } from './runCli.js';

const world = cliWorld();

/** The updates that `tail` prints up to the ledger end, without a word on stderr. */
const printedBy = async (...options: readonly string[]) => {
  const { code, out, err } = await world.tail('--to', String(world.sandbox.ledgerEnd), ...options);
  expect([code, err.text()]).toEqual([0, '']);
  return parseLines(out.text());
};
const offsetsOf = async (...options: readonly string[]): Promise<readonly unknown[]> =>
  (await printedBy(...options)).map(({ offset }) => offset);

describe('a range printed by tail', () => {
  it('has one JSON object in a line, tag first, and ends', async () => {
    const { code, out, err } = await world.tail('--from', '10', '--to', '60');

    expect([code, err.text()]).toEqual([0, '']);
    const printed = parseLines(out.text());
    expect(printed.length).toBeGreaterThan(10);
    expect(printed.every(({ offset }) => Number(offset) > 10 && Number(offset) <= 60)).toBe(true);
    expect(out.text().split('\n')[0]).toMatch(/^\{"_tag":"/);
  });

  it.each([
    ['rows with colours on a terminal', true, {}, [], false, true],
    ['rows without colours on a terminal with NO_COLOR', true, { NO_COLOR: '1' }, [], false, false],
    ['JSON on a terminal with --json', true, {}, ['--json'], true, false],
    ['JSON in a pipe', false, {}, [], true, false],
    ['rows without colours in a pipe with --pretty', false, {}, ['--pretty'], false, false],
    ['rows with colours in a pipe with FORCE_COLOR', false, { FORCE_COLOR: '1' }, ['--pretty'], false, true],
  ])('is %s', async (_, isTTY, env, options, isJson, isColoured) => {
    // a terminal without a known width, as in a container
    const out = capture({ isTTY, columns: 0 });
    const { code } = world.start(['tail', '--to', '30', ...options], { env, out });

    expect(await code).toBe(0);
    expect(out.text().split('\n')[1]).toMatch(isJson ? /^\{"_tag":"/ : /^ {7}1 {2}/);
    expect(out.text().includes('\u001b[32m+')).toBe(isColoured);
    expect(out.text().includes('\u001b')).toBe(isColoured);
  });

  it.each([['--json'], ['--pretty']])('has no control characters of the ledger with %s', async (form) => {
    await world.restart({}, 0);
    const evil = '\u009b2J\u001b[2J\u202e';
    const events = [{ CreatedEvent: { templateId: `ab:Main:${evil}` } }];
    world.sandbox.append({ Transaction: { value: { commandId: evil, events } } });
    const out = capture({ isTTY: true });
    expect(await world.start(['tail', '--to', '1', form], { out, env: { NO_COLOR: '1' } }).code).toBe(0);

    expect(out.text()).toMatch(/u\{?(?:009b|9b)/);
    expect(out.text()).not.toMatch(/[^\P{C}\n]/u);
  });
});

describe('the selection of tail', () => {
  it('has the variants and the synchronizers of the options', async () => {
    const tags = await printedBy('--variant', 'Reassignment', '--variant', 'TopologyTransaction');
    expect(new Set(tags.map(({ _tag }) => _tag))).toStrictEqual(new Set(['Reassignment', 'TopologyTransaction']));

    const [wanted = ''] = world.sandbox.synchronizers;
    const ids = await printedBy('--synchronizer', wanted);
    expect(new Set(ids.map(({ synchronizerId }) => synchronizerId))).toStrictEqual(new Set([wanted]));
  });

  it('requests the parties and templates from the ledger', async () => {
    const [alice = '', bob = ''] = world.sandbox.parties;
    await world.tail('--to', '3', '--party', alice, '--party', bob, '--template', '#sandbox-tasks:Tasks.Model:Task');

    const body = JSON.stringify(world.sandbox.requests.at(-1)?.body);
    for (const part of [alice, bob, '"templateId":"#sandbox-tasks:Tasks.Model:Task"', 'TRANSACTION_SHAPE_ACS_DELTA'])
      expect(body).toContain(part);
  });

  it('has exercises with --effects', async () => {
    expect(JSON.stringify(await printedBy())).not.toContain('ExercisedEvent');
    expect(JSON.stringify(await printedBy('--effects'))).toContain('ExercisedEvent');
  });
});

describe('the start of tail', () => {
  const isTransaction = ['--variant', 'Transaction'];

  it.each([0, 7, 150, 100_000])('is before the last %d updates of the selection with -n', async (count) => {
    const all = await offsetsOf(...isTransaction);
    expect(await offsetsOf(...isTransaction, '-n', String(count))).toEqual(count === 0 ? [] : all.slice(-count));
  });

  it('is the earliest update of a pruned ledger', async () => {
    world.sandbox.prune(250);
    expect(await offsetsOf('-n', '5000')).toEqual(await offsetsOf('--from', '250'));
  });

  it.each([1, 2])('is the first update of the time of --since, with all digits, on %d synchronizers', async (count) => {
    await world.restart({ synchronizers: ['one::1220ab', 'two::1220ab'].slice(0, count) });
    const times = world.sandbox.updates.flatMap((update) => {
      const value: object = updateValue(update);
      return 'recordTime' in value ? [[String(value.recordTime), updateValue(update).offset] as const] : [];
    });
    for (const index of [0, 120]) {
      const [time = ''] = times[index] ?? [];
      const [offset] = await offsetsOf('--effects', '--since', time);
      expect(offset).toBe(times.find(([at]) => at >= time)?.[1]);
    }
    expect(await offsetsOf('--since', '2999-01-01T00:00Z')).toEqual([]);
  });

  it('is the same for a time in another zone, and before now', async () => {
    const time = Date.now() - 3_600_000;
    const inZone = new Date(time + 5.5 * 3_600_000).toISOString().replace('Z', '+05:30');
    expect(await offsetsOf('--since', inZone)).toEqual(await offsetsOf('--since', new Date(time).toISOString()));
    expect(await offsetsOf('--since', '9d')).toEqual(await offsetsOf());
  });

  it('of --since on a pruned ledger is the offset from which to continue, or with -n the earliest update', async () => {
    world.sandbox.prune(250);
    const { code, out, err } = await world.tail('--since', '1999-01-01T00:00Z');
    expect([code, out.text()]).toEqual([1, '']);
    expect(err.text()).toContain('the pruned updates are gone: --from 250 continues without them');
    const last = await offsetsOf('--since', '1999-01-01T00:00Z', '-n', '5000');
    expect(last).toEqual(await offsetsOf('--from', '250'));
  });

  it('is where both are met with --since and -n', async () => {
    expect(await offsetsOf('--since', '1999-01-01T00:00Z', '-n', '3')).toEqual((await offsetsOf()).slice(-3));
    expect(await offsetsOf('--since', '2999-01-01T00:00Z', '-n', '3')).toEqual([]);
  });

  it('is that of the first run for a file of replay, which refuses another', async () => {
    const out = join(world.folder, 'last.ndjson');
    const replay = async (...options: readonly string[]) => {
      const run = world.start(['replay', '--out', out, ...options]);
      return { code: await run.code, err: run.err.text() };
    };
    expect(await replay('-n', '4')).toMatchObject({ code: 0 });
    expect(parseLines(readFileSync(out, 'utf8'))).toHaveLength(4);
    world.sandbox.generate(20);
    expect(await replay('-n', '4')).toMatchObject({ code: 0 });
    const refused = { code: 2, err: expect.stringContaining('another --since or --count') };
    expect(await replay('-n', '5')).toMatchObject(refused);
    expect(await replay()).toMatchObject({ code: 2 });
  });
});

describe('the end of tail', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'])(
    'on %s prints the offset to resume from, which neither skips nor repeats an update',
    async (signal) => {
      const all = await offsetsOf();
      const { code, out, err, signals } = world.start(['tail']);
      await out.lines(20);
      signals.emit(signal);

      expect(await code).toBe(0);
      const cursor = /^resume with --from (\d+)\n$/.exec(err.text())?.[1] ?? '';
      const before = parseLines(out.text()).map(({ offset }) => offset);
      expect([...before, ...(await offsetsOf('--from', cursor))]).toStrictEqual(all);
      expect(new Set(all).size).toBe(all.length);
      expect(signals.listenerCount(signal)).toBe(0);
    },
  );

  it('aborts the request that waits for new updates', async () => {
    // no checkpoint answers the request
    await world.restart({ earlyCheckpointMs: false });
    const { code, out, signals } = world.start(['tail', '--from', 'end']);
    const before = world.sandbox.ledgerEnd;
    // the request for new updates is sent after this one
    world.sandbox.generate(1);
    world.startTraffic();
    await out.lines(3);
    world.stopTraffic();
    await world.pending();
    signals.emit('SIGINT');

    expect(await code).toBe(0);
    await until(() => world.sandbox.requests.at(-1)?.aborted === true);
    expect(parseLines(out.text()).every(({ offset }) => Number(offset) > before)).toBe(true);
  });

  it('prints an offset after the updates that were left out', async () => {
    const { code, err, signals } = world.start(['tail', '--variant', 'UnknownUpdate']);
    // checkpoints are left out, too; the requests after the pages show that all is read
    await until(() => world.sandbox.requests.filter(({ path }) => path === '/v2/updates/flats').length > 3);
    signals.emit('SIGINT');

    expect(await code).toBe(0);
    expect(Number(/--from (\d+)/.exec(err.text())?.[1])).toBeGreaterThan(200);
  });
});

describe('tail with a reader slower than the ledger', () => {
  it('pauses the feed, and prints every update once and in order', async () => {
    world.sandbox.generate(3_000);
    let most = 0;
    let release: (() => void) | undefined;
    const out = capture({
      take: (_, done) => {
        most = Math.max(most, out.output.writableLength);
        if (release === undefined) release = done;
        else done();
      },
    });
    const end = String(world.sandbox.ledgerEnd);
    const { code } = world.start(['tail', '--to', end], { out });
    await until(() => out.output.writableLength >= 2 ** 20);
    const turns = async (): Promise<void> => {
      for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
    };
    await until(() => world.sandbox.requests.every(({ status, aborted }) => aborted || status !== undefined));
    await turns();
    const requests = world.sandbox.requests.length;
    // no requests while the reader is blocked
    await turns();
    expect(world.sandbox.requests).toHaveLength(requests);
    release?.();

    expect(await code).toBe(0);
    expect(most).toBeLessThan(2 ** 20 + 2 ** 16);
    expect(parseLines(out.text()).map(({ offset }) => offset)).toStrictEqual(await offsetsOf());
    expect(out.text().length).toBeGreaterThan(2 ** 21);
  });
});

describe.each([['tail'], ['contracts'], ['check']])('the output of %s', (command) => {
  it.each([
    ['is a success without a message if the reader closes the pipe', 'EPIPE', 0, ''],
    [
      'is a failure without an offset to resume from if it cannot be written',
      'ENOSPC',
      1,
      'canton-rx: cannot write to stdout: no space left\n',
    ],
  ])('%s', async (_, code, exitCode, message) => {
    let writes = 0;
    const error = Object.assign(new Error('no space left'), { code });
    const out = capture({
      take: (__, done) => {
        writes += 1;
        // a snapshot and a report are written at once
        setImmediate(done, writes > 1 || command !== 'tail' ? error : undefined);
      },
    });
    const run = world.start([command], { out });

    expect(await run.code).toBe(exitCode);
    expect(run.err.text()).toBe(message);
    expect(out.text().split('\n')).toHaveLength(command === 'tail' ? 2 : 1);
  });
});

describe('tail --websocket', () => {
  it('prints the updates that the ledger pushes', async () => {
    const { out, signals, code } = world.start(['tail', '--from', 'end', '--websocket']);
    await until(() => world.sandbox.requests.some(({ status }) => status === 101));
    world.sandbox.generate(3, { variants: ['Transaction'] });
    await out.lines(3);
    const polls = world.sandbox.requests.filter(({ method, path }) => `${method} ${path}` === 'POST /v2/updates/flats');
    signals.emit('SIGINT');

    expect(await code).toBe(0);
    expect(polls.length).toBeLessThanOrEqual(1);
  });

  it('polls if the service refuses a WebSocket', async () => {
    world.sandbox.fault({ kind: 'socket', how: 'refuse', status: 404 });
    const { out, signals, code } = world.start(['tail', '--from', 'end', '--websocket']);
    world.startTraffic();
    await out.lines(3);
    signals.emit('SIGINT');

    expect(await code).toBe(0);
  });

  it('requires the package ws, or the WebSockets of Node.js', async () => {
    const missing = Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' });
    const original = Object.getOwnPropertyDescriptor(globalThis, 'WebSocket');
    Reflect.deleteProperty(globalThis, 'WebSocket');
    try {
      await expect(loadTransport(() => Promise.reject(missing))).rejects.toThrow(UsageError);
      Object.defineProperty(globalThis, 'WebSocket', { value: () => undefined, configurable: true });
      expect(await loadTransport(() => Promise.reject(missing))).toMatchObject({ _tag: 'Transport' });
    } finally {
      Reflect.deleteProperty(globalThis, 'WebSocket');
      if (original !== undefined) Object.defineProperty(globalThis, 'WebSocket', original);
    }
    await expect(loadTransport(() => Promise.reject(new Error('bug')))).rejects.toThrow('bug');
  });
});

describe('the token of tail', () => {
  const secret = 'eyJhbGciOi.s3cret.token';

  it('is read from the environment, as the URL, and is not printed', async () => {
    await world.restart({ checkToken: (token) => token === secret });
    const env = { CANTON_RX_LEDGER_URL: world.sandbox.url, CANTON_RX_LEDGER_TOKEN: secret };
    const { code, out, err } = runCli(['tail', '--to', '60'], { env });

    expect(await code).toBe(0);
    expect(parseLines(out.text()).length).toBeGreaterThan(10);
    expect(out.text() + err.text()).not.toContain('s3cret');
  });

  it('is read from a file for every request, and not from the environment then', async () => {
    const file = join(world.folder, 'token');
    let good = `${secret}1`;
    writeFileSync(file, `${good}\n`);
    await world.restart({ checkToken: (token) => token === good });
    const env = { CANTON_RX_LEDGER_TOKEN: 'another' };
    const { code, out, err, signals } = world.start(['tail', '--token-file', file], { env });
    await world.pending();
    await out.lines(100);
    good = `${secret}2`;
    writeFileSync(file, `${good}\n`);
    // more than the pending request can have: the rest is requested with the other token
    world.sandbox.generate(250);
    const end = world.sandbox.ledgerEnd;
    await until(() => parseLines(out.text()).some(({ offset }) => Number(offset) >= end - 3));
    signals.emit('SIGINT');

    expect(await code).toBe(0);
    expect(out.text() + err.text()).not.toContain('s3cret');
  });
});
