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
import { Cursor } from '../../src/process/Cursor.js';
import { got } from '../process/storeContract.js';
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

/** Lets a process save until it has said so `lines` times, kills it a little later, and emits the last offset that it said. */
async function lifeOf(base: string, lines: number, turns: number): Promise<number> {
  const child = spawn(process.execPath, [saver, base], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  let last = 0;
  let left = lines;
  for await (const line of createInterface(child.stdout)) {
    last = Number(line);
    left -= 1;
    if (left !== 0) continue;
    for (let turn = 0; turn < turns; turn++) await setImmediate();
    child.kill('SIGKILL');
  }
  expect(await exited).toEqual([null, 'SIGKILL']);
  return last;
}

describe('a process that is killed while it saves', () => {
  it.concurrent.each([1, 2, 3, 4])(
    'leaves a whole cursor that is never older than the last one that was saved: %d',
    async () => {
      const base = await folder();
      for (let life = 0; life < 10; life++) {
        const last = await lifeOf(base, 1 + Math.floor(Math.random() * 20), Math.floor(Math.random() * 400));
        const cursor: unknown = JSON.parse(await readFile(join(base, 'a.json'), 'utf8'));
        if (!Cursor.is(cursor)) throw new Error('no cursor');
        expect(cursor.offset - last).toBeGreaterThanOrEqual(0);
        expect(cursor.offset - last).toBeLessThanOrEqual(1);
        expect(Object.keys(cursor.recordTimes)).toHaveLength(cursor.offset % 50);
      }
      await got(fileStore(base).load('a'));
      expect(await readdir(base)).toEqual(['a.json']);
    },
  );
});
