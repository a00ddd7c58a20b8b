import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, it, expect } from '@jest/globals';
import fc from 'fast-check';
import { lastValueFrom } from 'rxjs';
import { flushed } from '../../src/cli/World.js';
import { extentOf, lineFile } from '../../src/cli/replay/lineFile.js';
import { fill } from '../../src/cli/replay/replay.js';
import { acsDelta, createLedger } from '../../src/index.js';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/index.js';
import { captured, eventually, play, read } from './support.js';

let sandbox: Sandbox;
let folder: string;
let file: string;

const start = async (options: SandboxOptions = {}, updates = 300): Promise<void> => {
  await sandbox.close();
  sandbox = await startSandbox(options);
  sandbox.generate(updates);
};

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'canton-rx-'));
  file = join(folder, 'out.ndjson');
  sandbox = await startSandbox();
  sandbox.generate(300);
});

afterEach(async () => {
  await sandbox.close();
  rmSync(folder, { recursive: true });
});

const playing = (...options: readonly string[]) => play(['replay', '--ledger', sandbox.url, '--out', file, ...options]);
const replayed = async (...options: readonly string[]) => {
  const { code, err, out } = playing(...options);
  return { code: await code, err: err.text(), out: out.text() };
};
const content = (): string => readFileSync(file, 'utf8');
const size = (): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
const accountFile = (): string => `${file}.replay.json`;
const account = (): Record<string, unknown> =>
  JSON.parse(readFileSync(accountFile(), 'utf8')) as Record<string, unknown>;
/** Makes the file one that was not completed. */
const reopen = (): void => {
  const { complete, ...rest } = account();
  expect(complete).toBeDefined();
  writeFileSync(accountFile(), JSON.stringify(rest));
};
/** What `tail` prints of a range. */
const tailed = async (...options: readonly string[]): Promise<string> => {
  const { code, out } = play(['tail', '--ledger', sandbox.url, ...options]);
  expect(await code).toBe(0);
  return out.text();
};

describe('a range in a file', () => {
  it('is what tail prints of it, byte for byte, and is told to be complete', async () => {
    const { code, err, out } = await replayed('--from', '10', '--to', '200');

    expect({ code, out }).toStrictEqual({ code: 0, out: '' });
    expect(content()).toBe(await tailed('--from', '10', '--to', '200'));
    const lines = read(content()).length;
    expect(lines).toBeGreaterThan(50);
    expect(err).toMatch(/^complete: \d+ updates after 10 up to 200, [\d.]+ kB: .*out\.ndjson\n$/);
    expect(account()['complete']).toStrictEqual({
      updates: lines,
      bytes: statSync(file).size,
      sha256: createHash('sha256').update(content()).digest('hex'),
    });
  });

  it('ends where the ledger ended when it was begun', async () => {
    const end = sandbox.ledgerEnd;
    sandbox.fault({ kind: 'delay', ms: 30 }, { path: /updates/ });
    const { code } = playing();
    await eventually(() => sandbox.requests.some(({ path }) => path.includes('updates')));
    sandbox.generate(50);

    expect(await code).toBe(0);
    expect(content()).toBe(await tailed('--to', String(end)));
    expect(account()['to']).toBe(end);
  });

  it('has what was selected, and nothing else', async () => {
    const selection = ['--effects', '--variant', 'Transaction', '--synchronizer', sandbox.synchronizers[0] ?? ''];
    expect((await replayed(...selection)).code).toBe(0);

    expect(content()).toBe(await tailed('--to', String(sandbox.ledgerEnd), ...selection));
    expect(new Set(read(content()).map(({ _tag }) => _tag))).toStrictEqual(new Set(['Transaction']));
  });

  it('waits for a ledger that has yet to come so far, and has no checkpoints in it', async () => {
    await start({ earlyCheckpointMs: 5 }, 20);
    const end = sandbox.ledgerEnd + 30;
    const { code } = playing('--to', String(end));
    await eventually(() => sandbox.requests.some(({ query }) => 'stream_idle_timeout_ms' in query));
    await eventually(() => size() > 5_000);
    while (sandbox.ledgerEnd < end) sandbox.generate(1);

    expect(await code).toBe(0);
    const tags = read(content()).map(({ _tag }) => _tag);
    expect(tags.length).toBeGreaterThan(20);
    expect(tags).not.toContain('OffsetCheckpoint');
  });

  it('may be empty', async () => {
    expect((await replayed('--from', '7', '--to', '7')).code).toBe(0);
    expect(content()).toBe('');
  });

  it('is for its owner alone', async () => {
    await replayed('--to', '20');

    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(accountFile()).mode & 0o777).toBe(0o600);
  });

  it('is refused where the ledger ends before it begins', async () => {
    const { code, err } = await replayed('--from', String(sandbox.ledgerEnd + 5));

    expect(code).toBe(1);
    expect(err).toContain('nothing was written');
    expect(() => content()).toThrow('ENOENT');
  });
});

describe('going on', () => {
  it('wherever the file was cut, leads to the same file', async () => {
    await start({}, 40);
    await replayed();
    const whole = content();
    const bytes = statSync(file).size;
    const wholeAccount = account();

    await fc.assert(
      fc.asyncProperty(fc.nat(bytes), async (length) => {
        reopen();
        truncateSync(file, length);
        const { code, err } = await replayed();

        expect(code).toBe(0);
        expect(content()).toBe(whole);
        expect(account()).toStrictEqual(wholeAccount);
        const isTorn = length > 0 && whole.charCodeAt(length - 1) !== 10;
        expect(err.includes('a torn line was cut off')).toBe(isTorn);
      }),
      { numRuns: 40 },
    );
  });

  it('after interruptions and failures, loses and repeats nothing', async () => {
    await start({}, 2_000);
    const end = String(sandbox.ledgerEnd);
    const whole = await tailed('--to', end);
    const codes: number[] = [];
    for (let life = 0; codes.at(-1) !== 0 && life < 60; life += 1) {
      const before = sandbox.requests.length;
      sandbox.fault({ kind: 'reset' }, { path: /flats/, after: life % 3 });
      sandbox.fault({ kind: 'truncate', bytes: 5_000 * life + 17 }, { path: /flats/, after: 1 });
      const { code, signals } = playing('--to', end);
      const over = code.then(() => true);
      await eventually(() => sandbox.requests.length > before + 4 + life || signals.listenerCount('SIGINT') === 0);
      signals.emit('SIGINT');
      await over;
      codes.push(await code);
      expect(whole.startsWith(content())).toBe(true);
    }

    expect(codes.filter((code) => code === 130).length).toBeGreaterThan(2);
    expect(codes.at(-1)).toBe(0);
    expect(content()).toBe(whole);
  });

  it('on Ctrl-C leaves whole lines, says so, and is no success', async () => {
    sandbox.fault({ kind: 'hang' }, { path: /flats/, after: 1, times: 50 });
    const { code, err, signals } = playing('--to', String(sandbox.ledgerEnd + 1_000));
    await eventually(() => size() > 10_000);
    signals.emit('SIGINT');

    expect(await code).toBe(130);
    expect(err.text()).toMatch(/^interrupted\nthe same command goes on where .*out\.ndjson ends\n$/);
    expect(content().endsWith('\n')).toBe(true);
    expect(account()).not.toHaveProperty('complete');
    expect(signals.listenerCount('SIGINT')).toBe(0);
  });

  it('on Ctrl-C before the ledger has answered leaves nothing', async () => {
    sandbox.fault({ kind: 'hang' }, { path: /ledger-end/ });
    const { code, err, signals } = playing();
    await eventually(() => sandbox.requests.length > 0);
    signals.emit('SIGTERM');

    expect(await code).toBe(130);
    expect(err.text()).toBe('interrupted\n');
    expect(() => content()).toThrow('ENOENT');
  });

  it('after a failure of the ledger, is what the message says', async () => {
    sandbox.fault({ kind: 'status', status: 400, body: 'no' }, { path: '/v2/updates/flats', after: 1 });
    const { code, err } = await replayed();

    expect(code).toBe(1);
    expect(err).toContain(`the same command goes on where ${file} ends\n`);
  });

  it('is not what the message says where the ledger has been pruned', async () => {
    sandbox.prune(50);
    const { code, err } = await replayed('--from', '3', '--to', '100');

    expect(code).toBe(1);
    expect(err).toMatch(/^The ledger is pruned beyond the cursor\.\nEarliest offset: 50\n/);
    expect(err).toContain('what was pruned is gone: another file with --from 50 goes on without it\n');
    expect(err).not.toContain('the same command');
  });

  it('is not possible on a ledger that was reset, and the file stays as it is', async () => {
    await replayed();
    reopen();
    truncateSync(file, Math.floor(size() / 2));
    const whole = content().slice(0, content().lastIndexOf('\n') + 1);
    await start({}, 20);
    const { code, err } = await replayed();

    expect(code).toBe(1);
    expect(err).toContain('The cursor is beyond the ledger end.');
    expect(err).toContain('the offsets of the file mean nothing there any more: choose another file\n');
    expect(err).not.toContain('the same command');
    expect(content()).toBe(whole);
    expect(account()).not.toHaveProperty('complete');
  });

  it('is not tried with a ledger that cannot be reached at the start', async () => {
    await sandbox.close();
    const { code, err } = await replayed();

    expect(code).toBe(1);
    expect(err).toContain('ECONNREFUSED');
    expect(err).not.toContain('goes on');
  });

  it('does not need the end of a ledger that does not tell it, where the range has one', async () => {
    await start({ interfaceOnly: true });

    expect((await replayed('--to', '60')).code).toBe(0);
    expect(read(content()).length).toBeGreaterThan(10);
  });
});

describe('a file that is refused, and left as it is', () => {
  const refused = async (code: number, reason: string, ...options: readonly string[]): Promise<void> => {
    const before = content();
    const result = await replayed(...options);

    expect(result.err).toContain(reason);
    expect(result.code).toBe(code);
    expect(content()).toBe(before);
  };

  it.each([
    ['--from', ['--from', '11', '--to', '100'], 'was begun with --from 10'],
    ['--to', ['--from', '10', '--to', '101'], 'was begun with --to 100'],
    ['--effects', ['--from', '10', '--to', '100', '--effects'], 'was begun with other parties'],
    ['--party', ['--from', '10', '--to', '100', '--party', 'alice::12'], 'was begun with other parties'],
    ['--variant', ['--from', '10', '--to', '100', '--variant', 'Transaction'], 'was begun with other parties'],
  ])('is one that was begun with another %s', async (_, options, reason) => {
    await replayed('--from', '10', '--to', '100');
    reopen();
    truncateSync(file, 3_000);

    await refused(2, reason, ...options);
  });

  it('is not one whose filters were named in another order', async () => {
    const [a, b] = ['#sandbox-assets:Main:Asset', '#sandbox-tasks:Tasks.Model:Task'];
    await replayed('--template', a, '--template', b);

    expect((await replayed('--template', b, '--template', a)).code).toBe(0);
  });

  it('is one of another participant', async () => {
    await replayed('--to', '100');
    reopen();
    await start({ participantId: 'participant2::1220cc' });

    await refused(1, 'another participant', '--to', '100');
  });

  it('is one that nothing tells of', async () => {
    writeFileSync(file, 'the work of a week');

    await refused(1, 'is there already');
  });

  it('is one with a line that is not of a ledger, or not in order', async () => {
    await replayed('--to', '100');
    reopen();
    const [first = '', second = '', ...rest] = content().split('\n');
    writeFileSync(file, [second, first, ...rest].join('\n'));
    await refused(1, 'line 2 of');
    writeFileSync(file, [first, '{"note":"mine"}', ...rest].join('\n'));
    await refused(1, 'line 2 of');
  });

  it('is one that was complete and has changed, or is gone', async () => {
    await replayed('--to', '100');
    const whole = content();
    expect((await replayed('--to', '100')).code).toBe(0);
    writeFileSync(file, whole.replace('sync', 'sinc'));
    await refused(1, 'has changed since it was complete', '--to', '100');
    writeFileSync(file, `${whole}{`);
    await refused(1, 'has changed since it was complete', '--to', '100');
    rmSync(file);
    expect((await replayed('--to', '100')).err).toContain('is gone');
  });

  it('is one whose account cannot be read', async () => {
    await replayed('--to', '100');
    writeFileSync(accountFile(), '{"version":1');
    await refused(1, 'is not what replay writes', '--to', '100');
    writeFileSync(accountFile(), '{"version":2}');
    await refused(1, 'is not what replay writes', '--to', '100');
  });

  it('is one that another process writes to', async () => {
    sandbox.fault({ kind: 'delay', ms: 60 }, { path: /flats/ });
    const { code, err } = playing();
    await eventually(() => sandbox.requests.some(({ path }) => path.includes('flats')));
    appendFileSync(file, 'x');

    expect(await code).toBe(1);
    expect(err.text()).toContain('does another process write to it?');
    expect(account()).not.toHaveProperty('complete');
  });
});

describe('lineFile', () => {
  it('writes all of what waits, however little the disk takes at a time', async () => {
    const handle = await open(file, 'w+');
    const few = Object.create(handle, {
      write: {
        value: (buffer: Buffer, offset: number, length: number, position: number) =>
          handle.write(buffer, offset, Math.min(length, 3), position),
      },
    }) as typeof handle;
    const { output, bytes } = lineFile(few, file, await extentOf(handle, file, 0));
    for (let line = 0; line < 20; line += 1) output.write(`line ${line}\n`);
    output.end();
    await once(output, 'finish');
    await handle.close();

    expect(content().split('\n').slice(0, -1)).toStrictEqual(Array.from({ length: 20 }, (_, line) => `line ${line}`));
    expect(bytes()).toBe(content().length);
  });

  it('ends with the error of the disk', async () => {
    const handle = await open(file, 'w+');
    const full = Object.create(handle, {
      write: { value: () => Promise.reject(new Error('no space left on device')) },
    }) as typeof handle;
    const { output } = lineFile(full, file, await extentOf(handle, file, 0));
    output.write('line\n');

    expect(await once(output, 'error')).toStrictEqual([new Error('no space left on device')]);
    await handle.close();
  });
});

describe('a disk slower than the ledger', () => {
  it('holds the feed back, and gets everything once and in order', async () => {
    sandbox.generate(3_000);
    const end = sandbox.ledgerEnd;
    const handle = await open(file, 'w+');
    let most = 0;
    let hasStood = false;
    const slow = Object.create(handle, {
      write: {
        value: async (...args: [Buffer, number, number, number]) => {
          // the disk stands until the feed does
          if (!hasStood) await eventually(() => output.writableLength >= 2 ** 20);
          hasStood = true;
          // what was on its way arrives yet
          for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
          most = Math.max(most, output.writableLength);
          return handle.write(...args);
        },
      },
    }) as typeof handle;
    const { output } = lineFile(slow, file, await extentOf(handle, file, 0));
    const progress = { cursor: 0, updates: 0 };
    const format = acsDelta({ parties: 'any' });
    const options = { ledger: sandbox.url, token: undefined, from: 0, to: end, out: file };
    const selection = { format, variants: [], synchronizers: [] };
    const account = { version: 1, from: 0, to: end, selection: '' } as const;
    const ledger = createLedger({ baseUrl: sandbox.url });
    await lastValueFrom(fill(ledger, account, { ...options, ...selection }, { output, progress }), {
      defaultValue: undefined,
    });
    await lastValueFrom(flushed(output), { defaultValue: undefined });
    await handle.close();

    expect(content()).toBe(await tailed('--to', String(end)));
    expect(content().length).toBeGreaterThan(2 ** 21);
    expect(most).toBeGreaterThanOrEqual(2 ** 20);
    expect(most).toBeLessThan(2 ** 20 + 2 ** 16);
    expect(progress).toStrictEqual({ cursor: end, updates: read(content()).length });
  });
});

describe('replay on a terminal', () => {
  const erase = '\r\u001B[K';

  it('shows how far it is, and leaves no trace of it', async () => {
    sandbox.fault({ kind: 'delay', ms: 100 }, { path: /flats/ });
    const err = captured({ isTTY: true });
    const { code } = play(['replay', '--ledger', sandbox.url, '--out', file], { err, env: { NO_COLOR: '1' } });

    expect(await code).toBe(0);
    const shown = err.text().split(erase);
    expect(shown[1]).toMatch(/^░{20} {3}0% {2}0 \/ \d+ {2}· {2}0\/s {2}· {2}asking$/);
    expect(shown.at(-1)).toMatch(/^complete: .*\n$/);
  });
});
