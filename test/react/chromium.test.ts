import { join } from 'node:path';
import { describe, expect } from '@jest/globals';
import { itInChromium, runInChromium } from '../helpers/browser.js';
import type { ShownContracts } from './page.js';

describe('useContracts in a browser', () => {
  itInChromium('shows queries in StrictMode, each with its contracts', async () => {
    expect(await runInChromium<ShownContracts>(join(import.meta.dirname, 'page.ts'))).toEqual({
      steps: [
        ['idle', 'idle'],
        ['loading', 'live w=black x=red'],
        ['loading', 'live a=green x=red'],
        ['live a=green x=red', 'live a=green x=red'],
      ],
      open: 2,
      openAfterClear: 0,
    });
  });
});
