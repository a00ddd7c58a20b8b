import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { acsDelta } from '../../src/codecs/formats.js';
import type { Cursor } from '../../src/process/Cursor.js';
import { marbles } from '../helpers/marbles.js';
import { observe, type Observed } from '../helpers/observe.js';
import { canton, failed, ok, type Reply } from '../helpers/scripted.js';
import { fill, upTo, type WorldOptions } from '../helpers/world.js';
import { transaction } from '../helpers/wire.js';
import { hashAtOnce, name, PlainStore, until, worker, workshop, type Wanted, type Workshop } from './support.js';

beforeEach(() => {
  hashAtOnce();
  jest.spyOn(Math, 'random').mockReturnValue(0.5);
});
afterEach(() => {
  jest.restoreAllMocks();
});

/** The cursor of a processor that has handled ten updates. */
function savedCursor(request: Wanted = {}): Cursor {
  const store = new PlainStore();
  marbles(({ flush }) => {
    observe(workshop(10).work(worker().handle, { store, name }, request).pipe(until(1_000)));
    flush();
  });
  if (store.cursor === undefined) throw new Error('nothing was saved');
  return store.cursor;
}

interface Again {
  readonly options?: WorldOptions;
  readonly request?: Wanted;
  readonly change?: (given: Workshop) => void;
  readonly ms?: number;
}

/** A processor that is started again, with a stored record, on a ledger of twelve updates. */
function startedAgain(record: unknown, { options, request, change, ms = 20_000 }: Again = {}): Outcome {
  const store = new PlainStore().with(record);
  const { handled, handle } = worker();
  let seen: Observed<unknown> | undefined;
  marbles(({ flush }) => {
    const given = workshop(12, options);
    change?.(given);
    seen = observe(given.work(handle, { store, name }, request).pipe(until(ms)));
    flush();
    expect(given.service.open).toBe(0);
  });
  return { store, handled, error: seen?.error };
}

interface Outcome {
  readonly store: PlainStore;
  readonly handled: readonly number[];
  readonly error: unknown;
}

const parties = ['alice::1220ab', 'bob::1220ab'];
const pathOf = (what: string): string => `/v2/parties/${what}`;

describe('a stored cursor', () => {
  it('is gone on from', () => {
    expect(startedAgain(savedCursor())).toMatchObject({ handled: [11, 12], error: undefined });
  });

  it.each([
    ['of a later version', { version: 2 }],
    ['without an offset', { offset: undefined }],
    ['of an offset that is none', { offset: -1 }],
    ['without a selection', { selection: undefined }],
    ['of times that are none', { recordTimes: { a: 'yesterday' } }],
  ])('is refused as unreadable: %s', (_, changes) => {
    const { handled, error, store } = startedAgain({ ...savedCursor(), ...changes });
    expect(error).toMatchObject({ _tag: 'CursorError', reason: 'unreadable', processor: name });
    expect(handled).toEqual([]);
    expect(store.saves).toEqual([]);
  });

  it.each(['text', 7, true, []])('that is no record is refused as unreadable: %p', (record) => {
    expect(startedAgain(record).error).toMatchObject({ _tag: 'CursorError', reason: 'unreadable' });
  });

  it.each([null, undefined])('that is %p is none', (record) => {
    expect(startedAgain(record)).toMatchObject({ handled: upTo(12), error: undefined });
  });

  it('of another participant is refused', () => {
    const { error, handled } = startedAgain(savedCursor(), { options: { participantId: 'other::1220ab' } });
    expect(error).toMatchObject({ _tag: 'CursorError', reason: 'participant' });
    expect(handled).toEqual([]);
  });

  it.each<[string, Reply]>([
    ['404', failed(404, '')],
    ['403', failed(403, canton('NA', -1))],
    ['403 of a gateway', failed(403, 'no')],
    ['401', failed(401, '')],
    ['something else', ok({ participant: 'p' })],
  ])('is accepted by a participant that does not tell its id, and keeps it: %s', (_, reply) => {
    const fault: WorldOptions['fault'] = ({ path }) => (path === pathOf('participant-id') ? reply : undefined);
    const { handled, error, store } = startedAgain(savedCursor(), { options: { fault } });
    expect(error).toBeUndefined();
    expect(handled).toEqual([11, 12]);
    expect(store.cursor).toMatchObject({ participantId: 'participant1::1220ab' });
  });

  it('gets the id of a participant that tells it now', () => {
    const { store, handled } = startedAgain({ ...savedCursor(), participantId: undefined });
    expect(handled).toEqual([11, 12]);
    expect(store.cursor).toMatchObject({ participantId: 'participant1::1220ab' });
  });

  it('of a request that selects other updates is refused', () => {
    const record = savedCursor({ updateFormat: acsDelta({ parties }) });
    expect(startedAgain(record).error).toMatchObject({ _tag: 'CursorError', reason: 'selection' });
  });

  it('of a request that selects the same in another order is accepted', () => {
    const record = savedCursor({ updateFormat: acsDelta({ parties }) });
    const request = { updateFormat: acsDelta({ parties: [...parties].reverse() }) };
    expect(startedAgain(record, { request })).toMatchObject({ handled: [11, 12], error: undefined });
  });

  it('of a request that is told more of the same updates is accepted', () => {
    const record = savedCursor({ updateFormat: acsDelta({ parties }) });
    const request = { updateFormat: acsDelta({ parties, includeCreatedEventBlob: true }) };
    expect(startedAgain(record, { request })).toMatchObject({ handled: [11, 12], error: undefined });
  });

  it('is accepted where the service answers with nothing once, although there is something', () => {
    let isFirst = true;
    const fault: WorldOptions['fault'] = ({ body }) => {
      if (body['endInclusive'] !== 10 || !isFirst) return undefined;
      isFirst = false;
      return ok([]);
    };
    expect(startedAgain(savedCursor(), { options: { fault } })).toMatchObject({ handled: [11, 12], error: undefined });
    expect(isFirst).toBe(false);
  });

  it('of a ledger that was restored and has grown again is refused', () => {
    const change = ({ ledger }: Workshop): void => {
      ledger.restore(9);
      const text = (offset: number): object =>
        JSON.parse(JSON.stringify(transaction(offset)).replace(`1220${offset}`, 'another')) as object;
      for (const offset of [10, 11]) ledger.append(offset, text(offset));
    };
    const { error, handled } = startedAgain(savedCursor(), { change });
    expect(error).toMatchObject({ _tag: 'CursorError', reason: 'ledger' });
    expect(handled).toEqual([]);
  });

  it('of a ledger that was restored and grew past it without an update there is refused', () => {
    const change = ({ ledger }: Workshop): void => {
      ledger.restore(9);
      fill(ledger, 13);
    };
    expect(startedAgain(savedCursor(), { change }).error).toMatchObject({ _tag: 'CursorError', reason: 'ledger' });
  });

  it('of a ledger that was reset and gone on with by choice is gone on from, though updates were sparse', () => {
    const store = new PlainStore();
    const session = (reset: boolean, handled: number[]): unknown => {
      let seen: Observed<unknown> | undefined;
      marbles(({ flush }) => {
        const given = workshop(10);
        given.ledger.end = 100;
        if (reset) {
          given.ledger.restore(7);
          given.ledger.end = 90;
        }
        const onGap = (): number[] => [85];
        seen = observe(given.work(({ offset }) => handled.push(offset), { store, name, onGap }).pipe(until(60_000)));
        flush();
      });
      return seen?.error;
    };
    const handled: number[] = [];
    expect(session(false, handled)).toBeUndefined();
    expect(store.cursor).toMatchObject({ offset: 100, lastUpdate: { offset: 10 } });
    // once it is gone on with, started again: the last update before the reset says nothing of this ledger
    store.with({ ...store.cursor, lastUpdate: { offset: 7, updateId: '12207' } });
    expect(session(true, handled)).toBeUndefined();
    expect(store.cursor).toMatchObject({ offset: 90 });
    expect(store.cursor?.lastUpdate).toBeUndefined();
    expect(store.cursor?.recordTimes).toEqual({});
  });

  it('is gone on from where the end of the request is the begin of the ledger', () => {
    const { error, handled } = startedAgain(savedCursor(), { request: { endInclusive: 0 } });
    expect(error).toBeUndefined();
    expect(handled).toEqual([]);
  });

  it('beyond the ledger end is that of a ledger that was reset, after some grace', () => {
    const change = ({ ledger }: Workshop): void => {
      ledger.restore(7);
    };
    const { error, handled } = startedAgain(savedCursor(), { change });
    expect(error).toMatchObject({ _tag: 'LedgerResetError', cursor: 10, ledgerEnd: 7 });
    expect(handled).toEqual([]);
  });

  it('whose last update is pruned is gone on from', () => {
    const change = ({ ledger }: Workshop): void => {
      ledger.pruned = 10;
    };
    expect(startedAgain(savedCursor(), { change })).toMatchObject({ handled: [11, 12], error: undefined });
  });

  it('before what is pruned ends in the error of the feed', () => {
    const change = ({ ledger }: Workshop): void => {
      ledger.pruned = 11;
    };
    const { error } = startedAgain(savedCursor(), { change });
    expect(error).toMatchObject({ _tag: 'PrunedError', earliestOffset: 11 });
  });

  it('is looked at again where the ledger is away for a moment', () => {
    const fault: WorldOptions['fault'] = (_, n) => (n < 8 ? failed(503, '') : undefined);
    expect(startedAgain(savedCursor(), { options: { fault } })).toMatchObject({ handled: [11, 12], error: undefined });
  });
});
