import { describe, expect, it } from '@jest/globals';
import { until } from '../../helpers/time.js';
import { cliWorld } from '../cliWorld.js';
import { capture, parseLines, runCli } from '../runCli.js';

const world = cliWorld();

describe('a range printed by tail', () => {
  it('has one JSON object in a line, tag first, and ends', async () => {
    const { code, out, err } = await world.tail('--from', '10', '--to', '60');

    expect(code).toBe(0);
    expect(err.text()).toBe('');
    const printed = parseLines(out.text());
    expect(printed.length).toBeGreaterThan(10);
    expect(printed.every(({ offset }) => Number(offset) > 10 && Number(offset) <= 60)).toBe(true);
    expect(out.text().split('\n')[0]).toMatch(/^\{"_tag":"/);
  });

  it('is the same in two parts as at once', async () => {
    const all = await world.tailOffsets();
    const [first, second] = [await world.tailOffsets('--to', '150'), await world.tailOffsets('--from', '150')];

    expect([...first, ...second]).toStrictEqual(all);
    expect(new Set(all).size).toBe(all.length);
  });

  it('may be empty', async () => {
    const { code, out } = await world.tail('--from', '7', '--to', '7');

    expect([code, out.text()]).toStrictEqual([0, '']);
  });

  it('has rows of the usual width on a terminal without a known width', async () => {
    const out = capture({ isTTY: true, columns: 0 });
    const err = capture({ isTTY: true, columns: 0 });
    const env = { NO_COLOR: '1' };
    const { code } = world.start(['tail', '--to', '3'], { env, out, err });
    await code;

    expect(out.text()).toMatch(/^ {7}1 {2}\d\d:\d\d:\d\d.* tx /m);
  });

  it('is of the ledger that the environment names', async () => {
    const { code, out } = runCli(['tail', '--to', '60'], { env: { CANTON_RX_LEDGER_URL: world.sandbox.url } });

    expect(await code).toBe(0);
    expect(parseLines(out.text()).length).toBeGreaterThan(10);
  });
});

describe('the selection of tail', () => {
  const printedBy = async (...options: readonly string[]) =>
    parseLines((await world.tail('--to', String(world.sandbox.ledgerEnd), ...options)).out.text());

  it('prints only the variants of --variant', async () => {
    const tags = (await printedBy('--variant', 'Reassignment', '--variant', 'TopologyTransaction')).map(
      ({ _tag }) => _tag,
    );

    expect(new Set(tags)).toStrictEqual(new Set(['Reassignment', 'TopologyTransaction']));
  });

  it('prints only the synchronizers of --synchronizer', async () => {
    const [wanted = ''] = world.sandbox.synchronizers;
    const ids = (await printedBy('--synchronizer', wanted)).map(({ synchronizerId }) => synchronizerId);

    expect(new Set(ids)).toStrictEqual(new Set([wanted]));
  });

  it('requests the parties and templates from the ledger', async () => {
    const [alice = '', bob = ''] = world.sandbox.parties;
    await printedBy('--party', alice, '--party', bob, '--template', '#sandbox-tasks:Tasks.Model:Task');

    const body = JSON.stringify(world.sandbox.requests.at(-1)?.body);
    expect(body).toContain(alice);
    expect(body).toContain(bob);
    expect(body).toContain('"templateId":"#sandbox-tasks:Tasks.Model:Task"');
    expect(body).toContain('TRANSACTION_SHAPE_ACS_DELTA');
  });

  it('prints exercises with --effects', async () => {
    expect(JSON.stringify(await printedBy())).not.toContain('ExercisedEvent');
    expect(JSON.stringify(await printedBy('--effects'))).toContain('ExercisedEvent');
  });
});

describe('the end of tail', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'])(
    'on %s prints the offset to resume from, which neither skips nor repeats an update',
    async (signal) => {
      const all = await world.tailOffsets();
      const { code, out, err, signals } = world.start(['tail']);
      await out.lines(20);
      signals.emit(signal);

      expect(await code).toBe(0);
      const cursor = /^resume with --from (\d+)\n$/.exec(err.text())?.[1] ?? '';
      const before = parseLines(out.text()).map(({ offset }) => offset);
      const after = await world.tailOffsets('--from', cursor);
      expect([...before, ...after]).toStrictEqual(all);
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
    // now a request waits without a response
    await until(() => world.sandbox.requests.at(-1)?.status === undefined);
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

  it('waits for a slow reader', async () => {
    const out = capture({ take: (_, done) => setImmediate(done) });
    const { code } = world.start(['tail', '--to', String(world.sandbox.ledgerEnd)], { out });

    expect(await code).toBe(0);
    expect(parseLines(out.text()).map(({ offset }) => offset)).toStrictEqual(await world.tailOffsets());
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
    expect(parseLines(out.text()).map(({ offset }) => offset)).toStrictEqual(await world.tailOffsets());
    expect(out.text().length).toBeGreaterThan(2 ** 21);
  });
});

describe('tail --websocket', () => {
  it('prints the updates that the ledger pushes', async () => {
    const { out, signals, code } = world.start(['tail', '--from', 'end', '--websocket']);
    await until(() => world.sandbox.requests.some(({ status }) => status === 101));
    world.sandbox.generate(3, { variants: ['Transaction'] });
    await out.lines(3);
    const polls = world.sandbox.requests.filter(
      ({ method, path }) => method === 'POST' && path === '/v2/updates/flats',
    );
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
});
