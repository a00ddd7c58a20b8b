import { describe, expect, it } from '@jest/globals';
import { joinTimes } from '../../src/history/positions.js';

describe('how far two readers have read a synchronizer', () => {
  const early = { recordTime: '2026-07-24T00:00:03Z', updateId: 'b3' };
  const late = { recordTime: '2026-07-24T00:00:05Z' };

  it.each([
    ['the other', { b: late }, { b: early }],
    ['the one', { b: early }, { b: { ...late, updateId: 'b5' } }],
  ])('is not an update after which %s has read further', (_, one, other) => {
    expect(joinTimes(one, other)['b']?.recordTime).toBe(late.recordTime);
  });

  it('is the last update of the other if the one has read nothing later', () => {
    expect(joinTimes({ b: early }, { b: { ...late, updateId: 'b5' } })).toEqual({ b: { ...late, updateId: 'b5' } });
    expect(joinTimes({}, { b: early })).toEqual({ b: early });
  });
});
