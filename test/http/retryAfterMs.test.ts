import { describe, expect, it } from '@jest/globals';
import { retryAfterMs } from '../../src/http/retryAfterMs.js';

describe('retryAfterMs', () => {
  it('reads seconds and dates', () => {
    expect(retryAfterMs('120')).toBe(120_000);
    expect(retryAfterMs('0')).toBe(0);
    const wait = retryAfterMs(new Date(Date.now() + 60_000).toUTCString());
    expect(wait).toBeGreaterThan(58_000);
    expect(wait).toBeLessThanOrEqual(60_000);
    expect(retryAfterMs('Wed, 21 Oct 2015 07:28:00 GMT')).toBe(0);
  });

  it('takes nothing else for a time', () => {
    expect(retryAfterMs(undefined)).toBeUndefined();
    expect(retryAfterMs('soon')).toBeUndefined();
    expect(retryAfterMs('Infinity')).toBeUndefined();
  });
});
