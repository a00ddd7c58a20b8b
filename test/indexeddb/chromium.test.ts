import { join } from 'node:path';
import { describe, expect } from '@jest/globals';
import { inChromium, itInChromium } from '../helpers/inChromium.js';
import type { SeenInBrowser } from './inBrowser.js';

describe('in Chromium', () => {
  itInChromium('two stores of one database keep places, and give way when it is deleted', async () => {
    const { msPerSave, ...seen } = await inChromium<SeenInBrowser>(join(import.meta.dirname, 'inBrowser.ts'));
    const cursor = { version: 1, recordTimes: {}, selection: 'any' };
    expect(seen).toEqual({
      before: [undefined],
      loaded: [{ ...cursor, offset: 1 }],
      parked: [0, 9, 10, Number.MAX_SAFE_INTEGER].map((offset) => ({ offset })),
      unparked: [true, false],
      afterDeletion: [undefined],
      last: [{ ...cursor, offset: 49 }],
    });
    console.log(`a save takes ${msPerSave.toFixed(1)} ms in Chromium`);
  });
});
