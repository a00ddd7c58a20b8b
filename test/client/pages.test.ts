import { describe, expect, it } from '@jest/globals';
import { Learned } from '../../src/client/Learned.js';

type PageLimit = Learned['pages'];

const noLimit = (): PageLimit => new Learned('auto').pages;

/** Takes a page as large as possible, and has it arrive full if it has no more elements than fit. Returns the limits. */
const read = (limit: PageLimit, pages: number, fit: number, wanted = 200): readonly number[] =>
  Array.from({ length: pages }, () => {
    const taken = limit.take(wanted);
    if (taken > fit) limit.refused(taken);
    else limit.arrived(taken, taken);
    return taken;
  });

const afterRefusals = (...refused: readonly number[]): PageLimit => {
  const limit = noLimit();
  for (const each of refused) limit.refused(each);
  return limit;
};

describe('the limit of pages', () => {
  it('is not set until a page is refused, and is then half of the smallest that was refused', () => {
    expect(noLimit().take(200)).toBe(200);
    expect(afterRefusals(200).take(200)).toBe(100);
    expect(afterRefusals(200, 50, 100).take(200)).toBe(25);
    expect(afterRefusals(1).proven).toBe(1);
  });

  it('doubles after four pages without a refusal, up to what is wanted', () => {
    expect(read(afterRefusals(200, 100), 14, Infinity)).toEqual([
      50, 50, 50, 50, 100, 100, 100, 100, 100, 200, 200, 200, 200, 200,
    ]);
  });

  it('is tried by one request only, while the others keep to it', () => {
    const limit = afterRefusals(200);
    read(limit, 4, Infinity);
    expect([limit.next, limit.take(200), limit.take(200), limit.next]).toEqual([200, 200, 100, 100]);
  });

  it('does not grow by a try that has fewer elements, or by a page that was requested before the refusal', () => {
    const limit = afterRefusals(200);
    read(limit, 4, Infinity);
    expect(limit.arrived(limit.take(200), 100)).toBeUndefined();
    expect(afterRefusals(200).arrived(200, 200)).toBeUndefined();
  });

  it('does not count pages that are nearly empty', () => {
    const limit = afterRefusals(200);
    for (let i = 0; i < 100; i += 1) limit.arrived(100, 24);
    expect(limit.next).toBe(100);
    for (let i = 0; i < 4; i += 1) limit.arrived(100, 25);
    expect(limit.next).toBe(200);
  });

  it('is tried again by another request if a try had no response', () => {
    const limit = afterRefusals(200);
    read(limit, 4, Infinity);
    limit.take(200);
    expect(read(limit, 5, Infinity)).toEqual([100, 100, 100, 100, 200]);
  });

  it.each([1, 3, 7, 99])('is tried ever less often if only %i fit, and at least every 128 pages', (fit) => {
    const taken = read(noLimit(), 2_000, fit);
    const tries = taken.flatMap((each, i) => (each > fit ? [i] : []));
    const waits = tries
      .slice(1)
      .map((at, i) => at - (tries[i] ?? 0) - 1)
      .filter((wait) => wait > 0);
    expect(waits.slice(0, 4)).toEqual([4, 8, 16, 32]);
    expect(Math.max(...waits)).toBe(128);
    expect(tries.length).toBeLessThan(35);
  });

  it('is tried less often, too, if what has grown is refused later', () => {
    const limit = afterRefusals(200);
    const waits = Array.from({ length: 6 }, () => {
      const before = read(limit, 200, Infinity).indexOf(200);
      limit.refused(200);
      return before;
    });
    expect(waits).toEqual([4, 8, 16, 32, 64, 128]);
  });

  it('is tried as often as at first once it has grown several times in a row', () => {
    const limit = afterRefusals(4);
    read(limit, 300, 2);
    expect(read(limit, 1_000, Infinity).at(-1)).toBe(200);
    limit.refused(200);
    limit.refused(100);
    expect(read(limit, 200, Infinity).indexOf(100)).toBe(8);
  });
});
