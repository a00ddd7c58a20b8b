import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { lineFile, openLineFile } from '../../../src/cli/replay/file.js';

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'canton-rx-'));
  path = join(folder, 'out.ndjson');
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

/** A file handle with another `write`. */
const withWrite = (handle: FileHandle, write: unknown): FileHandle =>
  Object.create(handle, { write: { value: write } }) as FileHandle;

describe('lineFile', () => {
  it('writes all lines, however few bytes the disk takes at a time', async () => {
    const opened = await openLineFile(path, 0);
    const { handle } = opened;
    const slow = withWrite(handle, (buffer: Buffer, offset: number, length: number, position: number) =>
      handle.write(buffer, offset, Math.min(length, 3), position),
    );
    const { output, bytes } = lineFile({ ...opened, handle: slow }, path);
    for (let line = 0; line < 20; line += 1) output.write(`line ${line}\n`);
    output.end();
    await once(output, 'finish');
    await handle.close();

    const content = readFileSync(path, 'utf8');
    expect(content.split('\n').slice(0, -1)).toStrictEqual(Array.from({ length: 20 }, (_, line) => `line ${line}`));
    expect(bytes()).toBe(content.length);
  });

  it('fails with the error of the disk', async () => {
    const opened = await openLineFile(path, 0);
    const full = withWrite(opened.handle, () => Promise.reject(new Error('no space left on device')));
    const { output } = lineFile({ ...opened, handle: full }, path);
    output.write('line\n');

    expect(await once(output, 'error')).toStrictEqual([new Error('no space left on device')]);
    await opened.handle.close();
  });
});
