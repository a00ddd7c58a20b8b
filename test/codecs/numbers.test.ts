import { describe, expect, it } from '@jest/globals';
import { Duration } from '../../src/codecs/MinLedgerTime.js';
import { Int64, Offset } from '../../src/codecs/scalars.js';
import { Transaction } from '../../src/codecs/Transaction.js';
import { UpdatesRequest } from '../../src/codecs/UpdatesRequest.js';
import { decode, problemsIn, replaceAt, sample } from './support.js';

const MAX = Number.MAX_SAFE_INTEGER;
const notWhole = [2 ** 53, -(2 ** 53), 9007199254740993n.toString(), 1.5, NaN, Infinity, '1', '', null, true, [], {}];

describe('Int64', () => {
  it.each([0, 1, -1, MAX, -MAX])('accepts %p', (value) => {
    expect(decode(Int64, value)).toBe(value);
    expect(Int64.encode(value)).toBe(value);
    expect(Int64.is(value)).toBe(true);
  });

  it.each(notWhole)('rejects %p', (value) => {
    expect(problemsIn(Int64, value)).toStrictEqual(['expected Int64, a whole number within 2^53 - 1']);
    expect(Int64.is(value)).toBe(false);
  });
});

describe('Offset', () => {
  it.each([0, 1, MAX])('accepts %p', (value) => {
    expect(decode(Offset, value)).toBe(value);
    expect(Offset.is(value)).toBe(true);
  });

  it.each([-1, ...notWhole])('rejects %p', (value) => {
    expect(problemsIn(Offset, value)).toStrictEqual(['expected Offset, a whole number from 0 to 2^53 - 1']);
    expect(Offset.is(value)).toBe(false);
  });
});

describe('Duration', () => {
  it.each([
    { seconds: 0, nanos: 0 },
    { seconds: MAX, nanos: 999_999_999 },
  ])('accepts %j', (value) => {
    expect(decode(Duration, value)).toStrictEqual(value);
  });

  it.each([-1, ...notWhole])('rejects %p seconds', (seconds) => {
    expect(problemsIn(Duration, { seconds })).toStrictEqual(['seconds: expected seconds, a whole number from 0']);
  });

  it.each([-1, 1e9, 2 ** 53, 0.5, '0'])('rejects %p nanos', (nanos) => {
    expect(problemsIn(Duration, { seconds: 1, nanos })).toStrictEqual(['nanos: expected nanos, 0 to 999999999']);
  });
});

describe('the numbers of an answer', () => {
  const wire = sample('updates-3.6', 'wire', 0, 'update', 'Transaction', 'value');

  it.each(['9007199254740993', '-9007199254740993', '1e400', '2.5', '"70"'])('written %s are invalid', (text) => {
    const value: unknown = JSON.parse(text);
    for (const [path, expected] of [
      ['offset', 'Offset, a whole number from 0 to 2^53 - 1'],
      ['events.0.CreatedEvent.nodeId', 'Int64, a whole number within 2^53 - 1'],
      ['paidTrafficCost', 'Int64, a whole number within 2^53 - 1'],
    ] as const) {
      const broken: unknown = JSON.parse(JSON.stringify(replaceAt(wire, path, '@')).replace('"@"', text));
      expect(problemsIn(Transaction, broken)).toStrictEqual([`${path}: expected ${expected}`]);
    }
    expect(Int64.is(value)).toBe(false);
  });
});

describe('the offsets of a request', () => {
  it.each([-1, 2 ** 53, 0.5, '1'])('are not %p', (offset) => {
    const expected = 'expected Offset, a whole number from 0 to 2^53 - 1';
    expect(problemsIn(UpdatesRequest, { beginExclusive: offset })).toStrictEqual([`beginExclusive: ${expected}`]);
    expect(problemsIn(UpdatesRequest, { beginExclusive: 0, endInclusive: offset })).toStrictEqual([
      `endInclusive: ${expected}`,
    ]);
  });
});
