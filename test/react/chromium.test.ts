import { join } from 'node:path';
import { describe, expect } from '@jest/globals';
import { itInChromium, runInChromium } from '../helpers/browser.js';
import type { ShownContracts } from './page.js';

describe('useContracts in a browser', () => {
  itInChromium(
    'shows queries in StrictMode, each with its contracts, and stops a query that is never the same',
    async () => {
      const seen = await runInChromium<ShownContracts>(join(import.meta.dirname, 'page.ts'));
      const { requests, ...rest } = seen;
      expect(rest).toEqual({
        steps: [
          ['idle', 'idle'],
          ['loading', 'live w=black x=red'],
          ['loading', 'live a=green x=red'],
          ['live a=green x=red', 'live a=green x=red'],
        ],
        open: 2,
        openAfterClear: 0,
        mistake: expect.stringContaining('useContracts gets another query in each render'),
      });
      expect(requests).toBeLessThan(100);
    },
  );
});
