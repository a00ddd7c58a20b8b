import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { setImmediate } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { build } from 'esbuild';
import { fileStore } from '../../src/file/index.js';
import { Cursor } from '../../src/process/CheckpointStore.js';
import { effort } from '../helpers/effort.js';
import { lastValue } from '../process/storeContract.js';
import { folders } from './folders.js';

const folder = folders();
let saver = '';
beforeAll(async () => {
  saver = join(await folder(), 'saver.mjs');
  await build({
    entryPoints: [join(import.meta.dirname, 'saver.ts')],
    outfile: saver,
    bundle: true,
    format: 'esm',
    platform: 'node',
    logLevel: 'silent',
  });
});

/** Runs a process until it has printed `lines` offsets, kills it `turns` turns later, and resolves to the last printed offset. */
async function saveUntilKilled(base: string, lines: number, turns: number): Promise<number> {
  const child = spawn(process.execPath, [saver, base], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  let last = 0;
  let remaining = lines;
  for await (const line of createInterface(child.stdout)) {
    last = Number(line);
    remaining -= 1;
    if (remaining !== 0) continue;
    for (let turn = 0; turn < turns; turn++) await setImmediate();
    child.kill('SIGKILL');
  }
  expect(await exited).toEqual([null, 'SIGKILL']);
  return last;
}

describe('a process that is killed while it saves', () => {
  it.concurrent.each([1, 2, 3, 4])(
    'leaves a complete cursor, not older than the last one that was saved: run %d',
    async () => {
      const base = await folder();
      for (let life = 0; life < effort(3, 10); life++) {
        const last = await saveUntilKilled(base, 1 + Math.floor(Math.random() * 20), Math.floor(Math.random() * 400));
        const cursor: unknown = JSON.parse(await readFile(join(base, 'a.json'), 'utf8'));
        if (!Cursor.is(cursor)) throw new Error('not a cursor');
        expect(cursor.offset - last).toBeGreaterThanOrEqual(0);
        expect(cursor.offset - last).toBeLessThanOrEqual(1);
        expect(Object.keys(cursor.recordTimes)).toHaveLength(cursor.offset % 50);
      }
      await lastValue(fileStore(base).load('a'));
      expect(await readdir(base)).toEqual(['a.json']);
    },
  );
});
