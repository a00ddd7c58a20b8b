import { join } from 'node:path';
import { describe, expect } from '@jest/globals';
import { inChromium, itInChromium } from '../helpers/inChromium.js';
import type { Seen } from './page.js';

describe('in a browser', () => {
  itInChromium(
    'the async pipe and signals show a feed, with zone.js and without, and end it with the application',
    async () => {
      const seen = await inChromium<Readonly<Record<string, Seen>>>(join(import.meta.dirname, 'page.ts'));
      const well = { shown: 'offset 3', open: 1, openAfterwards: 0 };
      expect(seen).toEqual({ pipeInZone: well, signalInZone: well, pipeZoneless: well, signalZoneless: well });
    },
  );
});
