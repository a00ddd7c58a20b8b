import { describe, expect, it, jest } from '@jest/globals';
import { retryAfterMs } from '../../src/http/exchange.js';

describe('retryAfterMs', () => {
  it('reads seconds and dates', () => {
    expect(retryAfterMs('120')).toBe(120_000);
    expect(retryAfterMs('0')).toBe(0);
    jest.useFakeTimers({ now: Date.UTC(2026, 6, 24, 10, 0, 0, 400) });
    const wait = retryAfterMs('Fri, 24 Jul 2026 10:01:00 GMT');
    jest.useRealTimers();
    expect(wait).toBe(59_600);
    expect(retryAfterMs('Wed, 21 Oct 2015 07:28:00 GMT')).toBe(0);
  });

  it('takes nothing else for a time', () => {
    expect(retryAfterMs(undefined)).toBeUndefined();
    expect(retryAfterMs('soon')).toBeUndefined();
    expect(retryAfterMs('Infinity')).toBeUndefined();
  });
});
