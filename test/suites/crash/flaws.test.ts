import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { readNotes } from './flaws.js';

it('reads the notes of all lives, without the part of one that a kill left', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'canton-rx-notes-'));
  const file = join(folder, 'notes');
  await writeFile(file, '\n1 7 u7 h7 .\n1 8 u8\n2 8 u8 h8 .\n2 9 u9 h');
  expect(await readNotes(file)).toEqual([
    { life: 1, offset: 7, updateId: 'u7', hash: 'h7' },
    { life: 2, offset: 8, updateId: 'u8', hash: 'h8' },
  ]);
  await rm(folder, { recursive: true });
});
