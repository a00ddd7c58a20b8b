import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { derOfConcat } from '../../src/submission/webCryptoSigner.js';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const number = (text: string): Uint8Array => Buffer.from(text.padStart(64, '0'), 'hex');
const der = (r: string, s: string): string => hex(derOfConcat(Buffer.concat([number(r), number(s)])));

/** Reads strict DER: the two numbers, or throws. */
function numbersOf(bytes: Uint8Array): readonly bigint[] {
  if (bytes[0] !== 0x30 || bytes[1] !== bytes.length - 2) throw new Error('no sequence');
  const numbers: bigint[] = [];
  for (let at = 2; at < bytes.length;) {
    const length = bytes[at + 1] ?? 0;
    const content = bytes.subarray(at + 2, at + 2 + length);
    const [first = 0, second = 0] = content;
    if (bytes[at] !== 0x02 || length === 0 || content.length !== length) throw new Error('no integer');
    if (first > 0x7f) throw new Error('negative');
    if (length > 1 && first === 0 && second < 0x80) throw new Error('not the shortest');
    numbers.push(BigInt(`0x${hex(content)}`));
    at += 2 + length;
  }
  return numbers;
}

describe('derOfConcat', () => {
  it.each([
    ['small numbers lose their zeros', '01', '7f', '300602010102017f'],
    ['a high bit gets a zero in front', '80', 'ff', '3008020200800202' + '00ff'],
    ['zeros within stay', '010000', '0080', '3009' + '0203010000' + '02020080'],
    ['zero is one byte', '00', '01', '3006' + '020100' + '020101'],
    ['the longest', 'f'.repeat(64), 'f'.repeat(64), `3046${`022100${'f'.repeat(64)}`.repeat(2)}`],
  ])('%s', (_, r, s, expected) => {
    expect(der(r, s)).toBe(expected);
  });

  it('keeps both numbers, in their shortest form', () => {
    const half = fc
      .tuple(fc.nat({ max: 32 }), fc.uint8Array({ minLength: 32, maxLength: 32 }))
      .map(([zeros, bytes]) => bytes.map((byte, index) => (index < zeros ? 0 : byte)));
    fc.assert(
      fc.property(half, half, (r, s) => {
        const value = (bytes: Uint8Array): bigint => BigInt(`0x${hex(bytes)}`);
        expect(numbersOf(derOfConcat(Buffer.concat([r, s])))).toEqual([value(r), value(s)]);
      }),
    );
  });
});
