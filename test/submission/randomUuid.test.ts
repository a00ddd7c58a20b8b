import { describe, expect, it } from '@jest/globals';
import { LedgerString } from '../../src/codecs/scalars.js';
import { randomUuid } from '../../src/submission/Sending.js';

describe('randomUuid', () => {
  it('is a UUID of version 4, another each time, and a valid LedgerString', () => {
    const all = Array.from({ length: 1_000 }, randomUuid);
    for (const uuid of all) {
      expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(LedgerString.is(uuid)).toBe(true);
    }
    expect(new Set(all).size).toBe(1_000);
  });
});
