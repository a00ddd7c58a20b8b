import { join } from 'node:path';
import { describe, expect } from '@jest/globals';
import type { SeenInBrowser } from './inBrowser.js';
import { runInChromium, itInChromium } from '../helpers/browser.js';

describe('indexedDbStore in Chromium', () => {
  itInChromium(
    'shares a database between two stores, closes it when it is deleted, and holds a name for one page (G38)',
    async () => {
      const { msPerSave, ...seen } = await runInChromium<SeenInBrowser>(join(import.meta.dirname, 'inBrowser.ts'));
      const cursor = { version: 1, recordTimes: {}, selection: 'any' };
      expect(seen).toEqual({
        before: [undefined],
        loaded: [{ ...cursor, offset: 1 }],
        parked: [0, 9, 10, Number.MAX_SAFE_INTEGER].map((offset) => ({ offset })),
        unparked: [true, false],
        afterDeletion: [undefined],
        last: [{ ...cursor, offset: 49 }],
        held: [
          [true, false, false],
          [true, true, false],
        ],
        locks: 0,
      });
      console.log(`a save takes ${msPerSave.toFixed(1)} ms in Chromium`);
    },
  );
});
