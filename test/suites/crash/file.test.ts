import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { bundlePrograms } from './Child.js';
import { parameters, print, runWithCrashes } from './crashes.js';
import { findFlawsWithRepeats, readNotes } from './flaws.js';
import { world } from './world.js';

const commitEvery = 20;
const many = parameters(60, 6);

it(
  'a processor with a store of files repeats at most one commit, and skips nothing, when it is killed at any moment (G34)',
  async () => {
    const children = await bundlePrograms('file');
    const folder = await mkdtemp(join(tmpdir(), 'canton-rx-crash-'));
    const given = await world(many);
    try {
      const notes = join(folder, 'notes');
      const start = (life: number, end?: number) =>
        children.start('file', { ledgerUrl: given.sandbox.url, storeUrl: folder, notes, life, end, commitEvery });
      const { kills } = await runWithCrashes({ what: 'files', start }, given, many);
      expect(kills).toBe(many.kills);
      const { flaws, ...repeats } = findFlawsWithRepeats(await given.entries(), await readNotes(notes), commitEvery);
      print(`files: ${JSON.stringify(repeats)}`);
      expect(flaws).toEqual([]);
    } finally {
      await given.close();
      await children.remove();
      await rm(folder, { recursive: true });
    }
  },
  many.timeoutMs,
);
