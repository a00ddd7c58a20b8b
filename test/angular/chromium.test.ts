import { join } from 'node:path';
import { describe, expect } from '@jest/globals';
import type { ShownContracts } from './contractsPage.js';
import type { Shown } from './page.js';
import { runInChromium, itInChromium } from '../helpers/browser.js';

describe('in a browser', () => {
  itInChromium(
    'the async pipe and signals show a feed, with zone.js and without, until the application is destroyed',
    async () => {
      const seen = await runInChromium<Readonly<Record<string, Shown>>>(join(import.meta.dirname, 'page.ts'));
      const expected = { shown: 'offset 3', open: 1, openAfterDestroy: 0 };
      expect(seen).toEqual({
        pipeInZone: expected,
        signalInZone: expected,
        pipeZoneless: expected,
        signalZoneless: expected,
      });
    },
  );

  itInChromium('injectContracts shows a query by signals, with zone.js and without', async () => {
    const page = join(import.meta.dirname, 'contractsPage.ts');
    const seen = await runInChromium<Readonly<Record<string, ShownContracts>>>(page);
    const expected = {
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
    expect(seen).toEqual({ inZone: expected, zoneless: expected });
  });
});
