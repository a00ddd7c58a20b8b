import { createHash } from 'node:crypto';
import { appendFileSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { cantonError } from '../../../src/sandbox/index.js';
import { effort } from '../../helpers/effort.js';
import { until, useProcessTime } from '../../helpers/time.js';
import { cliWorld } from '../cliWorld.js';
import { type CliRun, parseLines } from '../runCli.js';

const world = cliWorld();
const file = (): string => join(world.folder, 'out.ndjson');
const content = (): string => readFileSync(file(), 'utf8');
/** 0 for a missing file. */
const size = (): number => statSync(file(), { throwIfNoEntry: false })?.size ?? 0;
const manifestFile = (): string => `${file()}.replay.json`;
const manifest = () => JSON.parse(readFileSync(manifestFile(), 'utf8')) as Readonly<Record<string, unknown>>;
/** Marks a complete file as incomplete. */
const markIncomplete = (): void => {
  const { complete, ...rest } = manifest();
  expect(complete).toBeDefined();
  writeFileSync(manifestFile(), JSON.stringify(rest));
};
/** Starts `canton-rx replay` of the sandbox. */
const start = (...options: readonly string[]): CliRun => world.start(['replay', '--out', file(), ...options]);
/** Runs `canton-rx replay` to its end. */
const run = async (...options: readonly string[]) => {
  const { code, err, out } = start(...options);
  return { code: await code, err: err.text(), out: out.text() };
};
/** The output of `canton-rx tail` for a range. */
const tailOutput = async (...options: readonly string[]): Promise<string> => {
  const { code, out } = await world.tail(...options);
  expect(code).toBe(0);
  return out.text();
};

// retries are soon over
beforeEach(() => {
  useProcessTime(20);
});

describe('the file of replay', () => {
  it('is the output of tail, byte for byte, and is reported as complete', async () => {
    const { code, err, out } = await run('--from', '10', '--to', '200');

    expect({ code, out }).toStrictEqual({ code: 0, out: '' });
    expect(content()).toBe(await tailOutput('--from', '10', '--to', '200'));
    const lines = parseLines(content()).length;
    // readable by its owner alone
    for (const path of [file(), manifestFile()]) expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(lines).toBeGreaterThan(50);
    expect(err).toMatch(/^complete: \d+ updates after 10 up to 200, [\d.]+ kB: .*out\.ndjson\n$/);
    expect(manifest()['complete']).toStrictEqual({
      updates: lines,
      bytes: statSync(file()).size,
      sha256: createHash('sha256').update(content()).digest('hex'),
    });
  });

  it('ends at the ledger end of the start', async () => {
    const end = world.sandbox.ledgerEnd;
    world.sandbox.fault({ kind: 'delay', ms: 30 }, { path: /updates/ });
    const { code } = start();
    await until(() => world.sandbox.requests.some(({ path }) => path.includes('updates')));
    world.sandbox.generate(50);

    expect(await code).toBe(0);
    expect(content()).toBe(await tailOutput('--to', String(end)));
    expect(manifest()['to']).toBe(end);
  });

  it('has the selected updates only', async () => {
    const selection = ['--effects', '--variant', 'Transaction', '--synchronizer', world.sandbox.synchronizers[0] ?? ''];
    expect((await run(...selection)).code).toBe(0);

    expect(content()).toBe(await tailOutput('--to', String(world.sandbox.ledgerEnd), ...selection));
    expect(new Set(parseLines(content()).map(({ _tag }) => _tag))).toStrictEqual(new Set(['Transaction']));
  });

  it('waits for new updates up to --to, and has no checkpoints', async () => {
    await world.restart({ earlyCheckpointMs: 5 }, 20);
    const end = world.sandbox.ledgerEnd + 30;
    const from = world.sandbox.ledgerEnd;
    const { code, err } = start('--to', String(end));
    await until(() => world.sandbox.requests.some(({ query }) => 'stream_idle_timeout_ms' in query));
    await until(() => size() > 5_000);
    while (world.sandbox.ledgerEnd < end) world.sandbox.generate(1);

    expect(await code).toBe(0);
    const tags = parseLines(content()).map(({ _tag }) => _tag);
    expect(tags.length).toBeGreaterThan(20);
    expect(tags).not.toContain('OffsetCheckpoint');
    expect(err.text()).toContain(
      `canton-rx: the ledger ends at offset ${from}: waiting for updates up to --to ${end}\n`,
    );
  });

  it.each([
    ['a refused connection', undefined, 'cannot be reached (ECONNREFUSED)', '→ check that the participant is running'],
    [
      'a web page',
      { kind: 'rewrite', body: () => '<html>' },
      'did not answer as expected',
      '→ the checks find nothing wrong now',
    ],
    ['a refused token', { kind: 'status', status: 401 }, 'requires a token', '→ the checks find nothing wrong now'],
  ] as const)('is not created after %s, and the next step is printed', async (_, fault, reason, next) => {
    if (fault === undefined) await world.sandbox.close();
    else world.sandbox.fault(fault, { path: /ledger-end/ });
    const { code, err } = await run();

    expect(code).toBe(fault === undefined ? 3 : 1);
    expect(err).toContain(reason);
    expect(err).toContain(next);
    expect(err).not.toContain('resumes');
    expect(() => content()).toThrow('ENOENT');
  });

  it('is not created if the ledger ends before --from', async () => {
    const { code, err } = await run('--from', String(world.sandbox.ledgerEnd + 5));

    expect(code).toBe(1);
    expect(err).toContain('nothing was written');
    expect(() => content()).toThrow('ENOENT');
  });

  it('does not need the ledger end if the range has an end', async () => {
    await world.restart({ interfaceOnly: true });

    expect((await run('--to', '60')).code).toBe(0);
    expect(parseLines(content()).length).toBeGreaterThan(10);
  });
});

describe('replay refuses a file and does not change it', () => {
  const expectRefused = async (code: number, reason: string, ...options: readonly string[]): Promise<void> => {
    const before = content();
    const result = await run(...options);

    expect(result.err).toContain(reason);
    expect(result.code).toBe(code);
    expect(content()).toBe(before);
  };

  it.each([
    ['--from', ['--from', '11', '--to', '100'], 'was started with --from 10'],
    ['--to', ['--from', '10', '--to', '101'], 'was started with --to 100'],
    ['--effects', ['--from', '10', '--to', '100', '--effects'], 'was started with other parties'],
    ['--party', ['--from', '10', '--to', '100', '--party', 'alice::12'], 'was started with other parties'],
    ['--variant', ['--from', '10', '--to', '100', '--variant', 'Transaction'], 'was started with other parties'],
  ])('that was started with another %s', async (_, options, reason) => {
    await run('--from', '10', '--to', '100');
    markIncomplete();
    truncateSync(file(), 3_000);

    await expectRefused(2, reason, ...options);
  });

  it('but not for another order of the same options', async () => {
    const [a, b] = ['#sandbox-assets:Main:Asset', '#sandbox-tasks:Tasks.Model:Task'];
    await run('--template', a, '--template', b);

    expect((await run('--template', b, '--template', a)).code).toBe(0);
  });

  it('that belongs to another participant', async () => {
    await run('--to', '100');
    markIncomplete();
    await world.restart({ participantId: 'participant2::1220cc' });

    await expectRefused(1, 'another participant', '--to', '100');
  });

  it('without a manifest', async () => {
    writeFileSync(file(), 'the work of a week');

    await expectRefused(1, 'already exists');
  });

  it('with a line that is not an update or not in order', async () => {
    await run('--to', '100');
    markIncomplete();
    const [first = '', second = '', ...rest] = content().split('\n');
    writeFileSync(file(), [second, first, ...rest].join('\n'));
    await expectRefused(1, 'line 2 of');
    writeFileSync(file(), [first, '{"note":"mine"}', ...rest].join('\n'));
    await expectRefused(1, 'line 2 of');
  });

  it('that was complete and has changed or is missing', async () => {
    await run('--to', '100');
    const whole = content();
    expect((await run('--to', '100')).code).toBe(0);
    writeFileSync(file(), whole.replace('sync', 'sinc'));
    await expectRefused(1, 'has changed since it was complete', '--to', '100');
    writeFileSync(file(), `${whole}{`);
    await expectRefused(1, 'has changed since it was complete', '--to', '100');
    rmSync(file());
    expect((await run('--to', '100')).err).toContain('was complete and is missing');
  });

  it('with an unreadable manifest', async () => {
    await run('--to', '100');
    writeFileSync(manifestFile(), '{"version":1');
    await expectRefused(1, 'was not written by replay', '--to', '100');
    writeFileSync(manifestFile(), '{"version":2}');
    await expectRefused(1, 'was not written by replay', '--to', '100');
  });

  it('that another process writes to', async () => {
    world.sandbox.fault({ kind: 'delay', ms: 60 }, { path: /flats/ });
    const { code, err } = start();
    await until(() => world.sandbox.requests.some(({ path }) => path.includes('flats')));
    appendFileSync(file(), 'x');

    expect(await code).toBe(1);
    expect(err.text()).toContain('is another process writing to it?');
    expect(manifest()).not.toHaveProperty('complete');
  });
});

describe('resuming a replay', () => {
  it('leads to the same file wherever the file was cut', async () => {
    await world.restart({}, 40);
    await run();
    const whole = content();
    const bytes = statSync(file()).size;
    const wholeManifest = manifest();

    await fc.assert(
      fc.asyncProperty(fc.nat(bytes), async (length) => {
        markIncomplete();
        truncateSync(file(), length);
        const { code, err } = await run();

        expect(code).toBe(0);
        expect(content()).toBe(whole);
        expect(manifest()).toStrictEqual(wholeManifest);
        const isIncomplete = length > 0 && whole.charCodeAt(length - 1) !== 10;
        expect(err.includes('an incomplete last line was removed')).toBe(isIncomplete);
      }),
      { numRuns: effort(10, 40) },
    );
  });

  it('neither skips nor repeats updates after interruptions and failures', async () => {
    await world.restart({}, 2_000);
    const end = String(world.sandbox.ledgerEnd);
    const whole = await tailOutput('--to', end);
    const codes: number[] = [];
    for (let life = 0; codes.at(-1) !== 0 && life < 60; life += 1) {
      const before = world.sandbox.requests.length;
      world.sandbox.fault({ kind: 'reset' }, { path: /flats/, after: life % 3 });
      world.sandbox.fault({ kind: 'truncate', bytes: 5_000 * life + 17 }, { path: /flats/, after: 1 });
      const { code, signals } = start('--to', end);
      let isOver = false;
      void code.then(() => (isOver = true));
      await until(() => world.sandbox.requests.length > before + 4 + life || isOver);
      signals.emit('SIGINT');
      codes.push(await code);
      expect(whole.startsWith(content())).toBe(true);
    }

    expect(codes.filter((code) => code === 130).length).toBeGreaterThan(2);
    expect(codes.at(-1)).toBe(0);
    expect(content()).toBe(whole);
  });

  it('adds nothing of another ledger with the same participant to the file', async () => {
    await world.restart({}, 40);
    await run();
    markIncomplete();
    truncateSync(file(), content().indexOf('\n', size() / 2) + 1);
    const before = content();
    world.sandbox.restore(0);
    world.sandbox.generate(2_000, { seed: 77 });
    const { code, err } = await run();

    expect(code).toBe(1);
    expect(err).toContain('another ledger');
    expect(err).toContain('the offsets of the file do not apply to the ledger any more: choose another file\n');
    expect(err).not.toContain('the same command');
    expect(content()).toBe(before);
    expect(manifest()).not.toHaveProperty('complete');
  });

  it('fails on a ledger that was reset, and does not change the file', async () => {
    await run();
    markIncomplete();
    truncateSync(file(), Math.floor(size() / 2));
    const whole = content().slice(0, content().lastIndexOf('\n') + 1);
    await world.restart({ participantId: world.sandbox.participantId }, 20);
    const { code, err } = await run();

    expect(code).toBe(1);
    expect(err).toContain('The cursor is beyond the ledger end.');
    expect(err).toContain('the offsets of the file do not apply to the ledger any more: choose another file\n');
    expect(err).not.toContain('the same command');
    expect(content()).toBe(whole);
    expect(manifest()).not.toHaveProperty('complete');
  });

  it('is possible after Ctrl-C, which leaves complete lines and is not a success', async () => {
    world.sandbox.fault({ kind: 'hang' }, { path: /flats/, after: 1, times: 50 });
    const { code, err, signals } = start('--to', String(world.sandbox.ledgerEnd + 1_000));
    await until(() => size() > 10_000);
    signals.emit('SIGINT');

    expect(await code).toBe(130);
    expect(err.text()).toMatch(
      /^canton-rx: the ledger ends at offset \d+: waiting .*\ninterrupted\nthe same command resumes at the end of .*out\.ndjson\n$/,
    );
    expect(content().endsWith('\n')).toBe(true);
    expect(manifest()).not.toHaveProperty('complete');
    expect(signals.listenerCount('SIGINT')).toBe(0);
  });

  it('is not announced after Ctrl-C before the first response, which leaves no file', async () => {
    world.sandbox.fault({ kind: 'hang' }, { path: /ledger-end/ });
    const { code, err, signals } = start();
    await until(() => world.sandbox.requests.length > 0);
    signals.emit('SIGTERM');

    expect(await code).toBe(130);
    expect(err.text()).toBe('interrupted\n');
    expect(() => content()).toThrow('ENOENT');
  });

  it('is announced after a failure of the ledger', async () => {
    const body = cantonError('INVALID_ARGUMENT');
    world.sandbox.fault({ kind: 'status', status: 400, body }, { path: '/v2/updates/flats', after: 1 });
    const { code, err } = await run();

    expect(code).toBe(1);
    expect(err).toContain(`the same command resumes at the end of ${file()}\n`);
  });

  it('is not announced if the ledger has been pruned', async () => {
    world.sandbox.prune(50);
    const { code, err } = await run('--from', '3', '--to', '100');

    expect(code).toBe(1);
    expect(err).toMatch(/^canton-rx: The ledger is pruned beyond the cursor\.\nEarliest offset: 50\n/);
    expect(err).toContain('→ the pruned updates are gone: another file with --from 50 continues without them\n');
    expect(err).not.toContain('the same command');
  });
});
