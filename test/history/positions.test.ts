import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { from, shareReplay, toArray } from 'rxjs';
import type { Update } from '../../src/codecs/Update.js';
import { positions, withOrigin } from '../../src/history/positions.js';

const synchronizerId = 'global::1220';
const recordTime = '2026-07-24T10:00:00Z';
const update = (offset: number): Update => ({
  ...{ _tag: 'Transaction', updateId: `1220${offset}`, effectiveAt: recordTime, events: [] },
  ...{ offset, synchronizerId, recordTime },
});
const before = (offset: number, participantId: string) => ({ offset, participantId, recordTimes: {} });

/** The positions of updates, in short. */
function read(updates: Iterable<Update>): readonly string[] {
  const seen: string[] = [];
  from(updates)
    .pipe(shareReplay({ bufferSize: 10, refCount: true }), positions(), toArray())
    .subscribe((pairs) => {
      for (const [, { offset, participantId }] of pairs) seen.push(`${offset} of ${String(participantId)}`);
    });
  return seen;
}

describe('the positions of updates', () => {
  it('belong to the participant of the page of each, also if some were left out', () => {
    const first = withOrigin([1, 2, 3].map(update), { before: before(0, 'first'), isAddressed: true });
    const second = withOrigin([7, 8].map(update), { before: before(3, 'second'), isAddressed: true });
    expect(read([...first.slice(1), ...second.slice(1)])).toEqual(['2 of first', '3 of first', '8 of second']);
  });

  it('have how far each synchronizer was read, also if all its updates were left out', () => {
    const of = (offset: number, id: string) => ({ ...update(offset), synchronizerId: id }) as Update;
    const all = [of(1, 'one'), of(2, 'two'), of(3, 'two'), of(4, 'one'), of(5, 'one'), of(6, 'three'), of(7, 'two')];
    const page = withOrigin(all, { before: before(0, 'first'), isAddressed: true });
    const kept = page.filter(({ offset }) => [4, 5].includes(offset));
    const times: Readonly<Record<string, unknown>>[] = [];
    from(kept)
      .pipe(positions())
      .subscribe(([, { recordTimes }]) => times.push(recordTimes));
    expect(times).toEqual([
      { one: { recordTime, updateId: '12204' }, two: { recordTime, updateId: '12203' } },
      { one: { recordTime, updateId: '12205' }, two: { recordTime, updateId: '12203' } },
    ]);
  });

  it('are those of the last page that had an update', () => {
    const updates = [update(1)];
    withOrigin(updates, { before: before(0, 'first'), isAddressed: true });
    withOrigin(updates, { before: before(0, 'second'), isAddressed: true });
    expect(read(updates)).toEqual(['1 of second']);
  });

  it('name no participant for copies of updates', () => {
    const updates = withOrigin([update(1)], { before: before(0, 'first'), isAddressed: true });
    expect(read(updates.map((each) => ({ ...each })))).toEqual(['1 of undefined']);
    expect(read(updates.map((each) => structuredClone(each)))).toEqual(['1 of undefined']);
  });

  it('leave updates as plain as they are', () => {
    const updates = [update(1)];
    withOrigin(updates, { before: before(0, 'first'), isAddressed: true });
    expect(read(updates)).toEqual(['1 of first']);
    for (const each of updates) {
      const plain = update(each.offset);
      expect(each).toStrictEqual(plain);
      expect(Reflect.ownKeys(each)).toEqual(Reflect.ownKeys(plain));
      expect(inspect(each, { showHidden: true })).toBe(inspect(plain, { showHidden: true }));
      expect(JSON.stringify(each)).toBe(JSON.stringify(plain));
    }
  });
});
