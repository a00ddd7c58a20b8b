import { join } from 'node:path';
import { describe, expect } from '@jest/globals';
import { itInChromium, runInChromium } from '../helpers/browser.js';
import type { Seen } from './page.js';

describe('in a browser, with zone.js and without', () => {
  itInChromium(
    'the async pipe and signals show a feed, and injectContracts a query, until the application is destroyed',
    async () => {
      const feed = { shown: 'offset 3', open: 1, openAfterDestroy: 0 };
      const contracts = {
        texts: [
          'idle',
          'loading',
          'resolved w=black x=red',
          'resolved a=green x=red',
          'loading',
          'resolved a=green x=red',
          'resolved none',
        ],
        isRequestedInZone: false,
        open: 2,
        openAfterDestroy: 0,
      };
      expect(await runInChromium<Seen>(join(import.meta.dirname, 'page.ts'))).toEqual({
        feeds: [feed, feed, feed, feed],
        contracts: [contracts, contracts],
      });
    },
  );
});
