import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { fileStore } from '../../src/file/index.js';
import { cursorAt, lastValue } from '../process/storeContract.js';

/** A disk of 64 kB, if the user may mount one. */
const disk = join(mkdtempSync(join(tmpdir(), 'canton-rx-disk-')), 'disk');
mkdirSync(disk);
const mounted = ((): boolean => {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', disk], { stdio: 'ignore' });
    return true;
  } catch {
    console.warn('skipped, since this user may not mount a disk');
    return false;
  }
})();
afterAll(() => {
  if (mounted) execFileSync('umount', [disk]);
  rmSync(join(disk, '..'), { recursive: true, force: true });
});

describe('fileStore on a full disk', () => {
  (mounted ? it : it.skip)('rejects a save, changes nothing, and saves again when there is space', async () => {
    const store = fileStore(disk);
    await lastValue(store.save('a', cursorAt(1), undefined));
    await writeFile(join(disk, 'filler'), Buffer.alloc(100_000)).catch(() => undefined);
    for (let turn = 0; turn < 3; turn++) {
      await expect(lastValue(store.save('a', cursorAt(2), undefined))).rejects.toMatchObject({ code: 'ENOSPC' });
      expect((await readdir(disk)).sort()).toEqual(['a.json', 'filler']);
      expect(await lastValue(fileStore(disk).load('a'))).toEqual(cursorAt(1));
    }
    await rm(join(disk, 'filler'));
    await lastValue(store.save('a', cursorAt(2), undefined));
    expect(await lastValue(fileStore(disk).load('a'))).toEqual(cursorAt(2));
  });
});
