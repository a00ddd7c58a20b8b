import { statSync, truncateSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { effort } from '../../helpers/effort.js';
import { until } from '../../helpers/time.js';
import { parseLines } from '../runCli.js';
import { replayWorld } from './replayWorld.js';

const { world, file, content, size, manifest, markIncomplete, start, run, tailOutput } = replayWorld();

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
    expect(content()).toBe(before);
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
    world.sandbox.fault({ kind: 'status', status: 400, body: 'no' }, { path: '/v2/updates/flats', after: 1 });
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

  it('fails on a ledger that was reset, and does not change the file', async () => {
    await run();
    markIncomplete();
    truncateSync(file(), Math.floor(size() / 2));
    const whole = content().slice(0, content().lastIndexOf('\n') + 1);
    await world.restart({}, 20);
    const { code, err } = await run();

    expect(code).toBe(1);
    expect(err).toContain('The cursor is beyond the ledger end.');
    expect(err).toContain('the offsets of the file do not apply to the ledger any more: choose another file\n');
    expect(err).not.toContain('the same command');
    expect(content()).toBe(whole);
    expect(manifest()).not.toHaveProperty('complete');
  });

  it('does not require the ledger end if the range has an end', async () => {
    await world.restart({ interfaceOnly: true });

    expect((await run('--to', '60')).code).toBe(0);
    expect(parseLines(content()).length).toBeGreaterThan(10);
  });
});
