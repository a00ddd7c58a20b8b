import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fromBase64, toBase64 } from '../../src/codecs/internal/bytes.js';

describe('base64', () => {
  it('is that of Node.js, both ways', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(toBase64(bytes)).toBe(Buffer.from(bytes).toString('base64'));
        expect(Array.from(fromBase64(toBase64(bytes)))).toEqual(Array.from(bytes));
      }),
    );
  });

  it('of megabytes does not overflow', () => {
    const bytes = new Uint8Array(3_000_000).fill(7);
    expect(fromBase64(toBase64(bytes)).length).toBe(3_000_000);
  });

  it('throws for what is none', () => {
    expect(() => fromBase64('%')).toThrow();
  });
});
