import { join } from 'node:path';
import { describe, expect } from '@jest/globals';
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
});
