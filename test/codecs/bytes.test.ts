import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fromBase64, toBase64 } from '../../src/codecs/internal/field.js';

describe('base64', () => {
  it('equals that of Node.js, encoded and decoded', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(toBase64(bytes)).toBe(Buffer.from(bytes).toString('base64'));
        expect(Array.from(fromBase64(toBase64(bytes)))).toEqual(Array.from(bytes));
      }),
    );
  });

  it('of megabytes does not overflow the stack', () => {
    const bytes = new Uint8Array(3_000_000).fill(7);
    expect(fromBase64(toBase64(bytes)).length).toBe(3_000_000);
  });

  it('throws for a text that is not base64', () => {
    expect(() => fromBase64('%')).toThrow();
  });
});
