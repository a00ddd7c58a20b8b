import { describe, expect, it } from '@jest/globals';
import { takeUntil, timer } from 'rxjs';
import type { LedgerPosition } from '../../src/index.js';
import { observe } from '../helpers/observe.js';
import { marbles } from '../helpers/time.js';
import type { Entry } from '../helpers/virtualLedger.js';
import type { Reply } from '../helpers/scripted.js';
import { errorBody, errorReply, ok, transactionWith } from '../helpers/wire.js';
import { updateFormat, world, type WorldOptions } from '../helpers/world.js';

const timeOf = (second: number): string => new Date(Date.UTC(2026, 6, 24) + second * 1_000).toISOString();

/** An update, such as `b7`: of a synchronizer, at a second. */
const at = (offset: number, updateId: string): Entry => ({
  offset,
  element: transactionWith(offset, {
    updateId,
    synchronizerId: `${updateId.charAt(0)}::1220`,
    recordTime: timeOf(Number(updateId.slice(1))),
  }),
});

/** The position after `b5`, and then `a6` at 4. */
const after: LedgerPosition = {
  offset: 4,
  participantId: 'node::1220',
  lastUpdate: { offset: 4, updateId: 'a6' },
  recordTimes: {
    'a::1220': { recordTime: timeOf(6), updateId: 'a6' },
    'b::1220': { recordTime: timeOf(5), updateId: 'b5' },
  },
};

interface Given extends WorldOptions {
  readonly position?: LedgerPosition;
  readonly endInclusive?: number;
  readonly pruned?: number;
}

/** Continues after the position, and returns what was emitted and requested. */
const follow = (ids: readonly string[], { position = after, endInclusive, pruned = 0, ...options }: Given = {}) =>
  marbles(({ flush }) => {
    const { ledger, client, service } = world({ latencyMs: 5, participantId: 'node::1220', ...options });
    ids.forEach((id, index) => {
      const { offset, element } = at(index + 1, id);
      ledger.append(offset, element);
    });
    ledger.pruned = pruned;
    const seen = observe(
      client
        .updates({ after: position, updateFormat, ...(endInclusive && { endInclusive }) })
        .pipe(takeUntil(timer(9_000))),
    );
    flush();
    return {
      emitted: seen.values.map((update) => ('updateId' in update ? update.updateId : update._tag)),
      error: seen.error,
      downward: service.requests.filter(({ body }) => body['descendingOrder'] === true).length,
    };
  });

const unread = ['b5', 'b7', 'b8', 'a6', 'a9'];

describe('a feed whose last update is at its offset', () => {
  it.each<[string, readonly string[], readonly string[]]>([
    ['continues after it if nothing has changed', ['a1', 'b2', 'b5', 'a6', 'b7', 'a9'], ['b7', 'a9']],
    ['reads what is before it now, and was not read', unread, ['b7', 'b8', 'a9']],
    ['leaves out what was read, and is after it now', ['a1', 'a2', 'a3', 'a6', 'b5', 'b7'], ['b7']],
    ['leaves out a synchronizer that it does not know', ['a1', 'b5', 'c9', 'a6', 'b7'], ['b7']],
  ])('%s', (_, ids, emitted) => {
    expect(follow(ids)).toEqual({ emitted, error: undefined, downward: 1 });
  });

  it('does not go back to an update without an ID, which does not advance the position', () => {
    const show = (element: object): object => {
      const { value } = (element as { update: { Transaction: { value: Record<string, unknown> } } }).update.Transaction;
      const { updateId, ...content } = value;
      return updateId === 'b7' ? { update: { NewUpdate: { value: content } } } : element;
    };
    expect(follow(['b5', 'b3', 'b7', 'a6', 'a9'], { show })).toEqual({
      emitted: ['a9'],
      error: undefined,
      downward: 1,
    });
  });

  it('reads to the end of its range', () => {
    expect(follow(unread, { endInclusive: 5 })).toMatchObject({ emitted: ['b7', 'b8', 'a9'], error: undefined });
  });

  it('reads what is not pruned, although the last update of a synchronizer is', () => {
    expect(follow(unread, { pruned: 1 })).toMatchObject({ emitted: ['b7', 'b8', 'a9'], error: undefined });
  });

  it('looks at no other update where it has read one synchronizer', () => {
    const { 'a::1220': a } = after.recordTimes;
    const position = { ...after, recordTimes: { 'a::1220': a } } as LedgerPosition;
    expect(follow(unread, { position })).toEqual({ emitted: ['a9'], error: undefined, downward: 0 });
  });

  it('continues after it where another selection may have read a synchronizer', () => {
    const { 'a::1220': a } = after.recordTimes;
    const recordTimes = { 'a::1220': a, 'b::1220': { recordTime: timeOf(5) } } as LedgerPosition['recordTimes'];
    expect(follow(unread, { position: { ...after, recordTimes } })).toMatchObject({ emitted: ['a9'], downward: 0 });
  });

  it.each<[string, Reply]>([
    ['ignores the order', ok(unread.map((id, index) => at(index + 1, id).element))],
    ['refuses the order', errorReply(400, errorBody('INVALID_ARGUMENT', 8))],
  ])('continues after it at a participant that %s', (_, reply) => {
    const fault: Given['fault'] = ({ body }) => (body['descendingOrder'] === true ? reply : undefined);
    expect(follow(unread, { fault })).toEqual({ emitted: ['a9'], error: undefined, downward: 1 });
  });

  it('does not go back to what was skipped', () => {
    const emitted = marbles(({ flush }) => {
      const { ledger, client } = world({ latencyMs: 5, participantId: 'node::1220' });
      const append = (...entries: readonly Entry[]): void => {
        for (const { offset, element } of entries) ledger.append(offset, element);
      };
      append(at(1, 'b5'), at(2, 'a6'));
      const feed$ = client.updates({ beginExclusive: 0, updateFormat }, { onGap: () => [11] });
      const seen = observe(feed$.pipe(takeUntil(timer(60_000))));
      timer(9_000).subscribe(() => {
        ledger.replace([at(10, 'b7'), at(11, 'a8')], 11);
        ledger.pruned = 9;
      });
      timer(20_000).subscribe(() => {
        append(at(12, 'a9'));
      });
      timer(30_000).subscribe(() => {
        ledger.disconnect();
      });
      flush();
      return seen.values.flatMap((update) => ('updateId' in update ? [update.updateId] : []));
    });
    expect(emitted).toEqual(['b5', 'a6', 'a9']);
  });
});
