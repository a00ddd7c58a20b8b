import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { build } from 'esbuild';
import { type Observable, Subscription } from 'rxjs';
import { fileStore } from '../../src/file/index.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { until } from '../helpers/time.js';
import { cursorAt, lastValue } from '../process/storeContract.js';
import { folders } from './folders.js';

const folder = folders();
const children = new Set<ChildProcess>();
const holding = new Subscription();
let sandbox: Sandbox | undefined;
let processor = '';

beforeAll(async () => {
  processor = join(await folder(), 'processor.mjs');
  await build({
    entryPoints: [join(import.meta.dirname, 'processor.ts')],
    outfile: processor,
    bundle: true,
    format: 'esm',
    platform: 'node',
    logLevel: 'silent',
  });
});
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  children.clear();
  await sandbox?.close();
  sandbox = undefined;
});

/** Starts to hold a name, and returns whether it is held. */
function hold(hold$: Observable<unknown>): { readonly isHeld: () => boolean; readonly release: () => void } {
  let isHeld = false;
  const subscription = hold$.subscribe(() => {
    isHeld = true;
  });
  holding.add(subscription);
  return {
    isHeld: () => isHeld,
    release: () => {
      subscription.unsubscribe();
    },
  };
}

describe('a name of fileStore', () => {
  it('is held by one store at a time, whatever the path of the folder', async () => {
    const base = await folder();
    const link = join(await folder(), 'link');
    await symlink(base, link);
    const first = hold(fileStore(base).hold('a'));
    await until(first.isHeld);
    const second = hold(fileStore(link).hold('a'));
    const other = hold(fileStore(link).hold('b'));
    await until(other.isHeld);
    expect(second.isHeld()).toBe(false);
    first.release();
    await until(second.isHeld);
    for (const { release } of [second, other]) release();
  });

  it('does not begin again for a store that waited, and whose cursor was removed meanwhile', async () => {
    const base = await folder();
    const [former, next] = [fileStore(base), fileStore(base)];
    const first = hold(former.hold('a'));
    await until(first.isHeld);
    await lastValue(former.save('a', cursorAt(7), undefined));
    let waits = false;
    const second = hold(next.hold('a', () => (waits = true)));
    await until(() => waits);
    expect(await lastValue(next.load('a'))).toEqual(cursorAt(7));
    await rm(join(base, 'a.json'));
    first.release();
    await until(second.isHeld);
    await expect(lastValue(next.load('a'))).rejects.toMatchObject({ _tag: 'CursorError', reason: 'conflict' });
    // whoever starts it again knows
    expect(await lastValue(next.load('a'))).toBeUndefined();
    second.release();
  });

  it('is not taken by a store that stops waiting', async () => {
    const base = await folder();
    const first = hold(fileStore(base).hold('a'));
    // released before the lock is acquired
    first.release();
    const second = hold(fileStore(base).hold('a'));
    await until(second.isHeld);
    expect(first.isHeld()).toBe(false);
    second.release();
  });

  it('is released after the saves that were called before', async () => {
    const base = await folder();
    const store = fileStore(base);
    const first = hold(store.hold('a'));
    await until(first.isHeld);
    const saves = Promise.all([1, 2, 3, 4, 5].map((offset) => lastValue(store.save('a', cursorAt(offset), undefined))));
    first.release();
    const next = fileStore(base);
    const second = hold(next.hold('a'));
    await until(second.isHeld);
    expect(await lastValue(next.load('a'))).toEqual(cursorAt(5));
    await saves;
    second.release();
  });

  it('cannot be held in a folder that does not exist', async () => {
    const base = join(await folder(), 'missing');
    await expect(
      fileStore(base)
        .hold('a')
        .forEach(() => undefined),
    ).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

describe('two processes', () => {
  /** Starts a process, and waits until it has subscribed. */
  async function start(label: string, base: string, url: string): Promise<ChildProcess> {
    const child = spawn(process.execPath, [processor, url, base, join(base, 'log'), label], { stdio: 'inherit' });
    children.add(child);
    await until(async () => (await linesOf(base)).includes(`${label} waits`));
    return child;
  }
  const linesOf = async (base: string): Promise<readonly string[]> =>
    (await readFile(join(base, 'log'), 'utf8').catch(() => '')).split('\n');
  const offsetsOf = (event: string, lines: readonly string[]): readonly number[] =>
    lines.flatMap((line) => new RegExp(`^${event} (\\d+)$`).exec(line)?.[1] ?? []).map(Number);

  it.each(['SIGTERM', 'SIGKILL'] as const)(
    'never handle at the same time, and after %s the other one continues from the cursor (G36)',
    async (signal) => {
      const base = await folder();
      const { url } = (sandbox = await startSandbox());
      sandbox.generate(40, { seed: 1 });
      const first = await start('first', base, url);
      await until(async () => (await linesOf(base)).some((line) => line.startsWith('first begins')));
      const second = await start('second', base, url);
      // time enough for the second one to begin, if it did not wait
      for (let seed = 2; seed < 5; seed++) {
        sandbox.generate(40, { seed });
        const { ledgerEnd } = sandbox;
        await until(async () => offsetsOf('first ends', await linesOf(base)).includes(ledgerEnd));
      }
      const handledBefore = sandbox.ledgerEnd;
      sandbox.generate(40, { seed: 5 });
      await until(async () => offsetsOf('first ends', await linesOf(base)).some((offset) => offset > handledBefore));
      const exited = once(first, 'exit');
      first.kill(signal);
      await exited;
      const end = sandbox.ledgerEnd;
      await until(async () => offsetsOf('second ends', await linesOf(base)).includes(end));
      second.kill('SIGKILL');
      const lines = await linesOf(base);
      const takenOverAt = lines.findIndex((line) => line.startsWith('second begins'));
      expect(lines.findLastIndex((line) => line.startsWith('first '))).toBeLessThan(takenOverAt);
      const handled = offsetsOf('first ends', lines);
      const continued = offsetsOf('second ends', lines);
      expect([...new Set([...handled, ...continued])]).toEqual([...new Set(offsetsOf('\\w+ begins', lines))]);
      // in order, and only the updates since the last commit are repeated
      expect([...handled, ...continued.filter((offset) => !handled.includes(offset))]).toEqual(
        [...new Set([...handled, ...continued])].toSorted((a, b) => a - b),
      );
      expect(handled.filter((offset) => continued.includes(offset)).length).toBeLessThanOrEqual(3);
    },
  );
});
