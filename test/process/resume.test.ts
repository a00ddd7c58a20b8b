import { describe, expect, it } from '@jest/globals';
import { acsDelta } from '../../src/codecs/UpdateFormat.js';
import type { Cursor } from '../../src/process/CheckpointStore.js';
import type { Reply } from '../helpers/scripted.js';
import { errorBody, errorReply, ok, transactionWithId } from '../helpers/wire.js';
import { upTo, type WorldOptions } from '../helpers/world.js';
import {
  mockPlatform,
  name,
  PlainStore,
  type ProcessWorld,
  run,
  type RunOptions,
  type TestRequest,
} from './support.js';

mockPlatform();

/** The cursor of a processor that has handled ten updates. */
function savedCursor(request: TestRequest = {}): Cursor {
  const { cursor } = run({ request, ms: 1_000 }).store;
  if (cursor === undefined) throw new Error('no cursor was saved');
  return cursor;
}

/** Restarts a processor with a stored record, on a ledger of twelve updates. */
const restart = (record: unknown, options: RunOptions = {}) =>
  run({ updates: 12, ms: 20_000, store: new PlainStore().withRecord(record), ...options });

const parties = ['alice::1220ab', 'bob::1220ab'];
const bothParties = { updateFormat: acsDelta({ parties }) };
const pathOf = (what: string): string => `/v2/parties/${what}`;

/** Restores the ledger to an earlier end; then it has other updates. */
const restoreTo =
  (end: number, ...others: readonly number[]) =>
  ({ ledger }: ProcessWorld): void => {
    ledger.restore(end);
    for (const offset of others) ledger.append(offset, transactionWithId(offset, `another${offset}`));
  };

/** Refuses some requests, and then gives a token a new name each time. */
const refusing = (count: number): WorldOptions => {
  let [tokens, refusals] = [0, count];
  return {
    fault: () => ((refusals -= 1) >= 0 ? errorReply(401, '') : undefined),
    client: { token: () => `token-${(tokens += 1)}` },
  };
};

const participant = (reply: Reply): RunOptions => ({
  world: { fault: ({ path }) => (path === pathOf('participant-id') ? reply : undefined) },
});

const other = { participantId: 'other::1220ab' };

describe('a stored cursor', () => {
  it.each<[string, object, () => Partial<Cursor>, RunOptions]>([
    ['of a later version', { reason: 'unreadable', processor: name }, () => ({ version: 2 as 1 }), {}],
    ['without an offset', { reason: 'unreadable' }, () => ({ offset: undefined as never }), {}],
    ['whose offset was set back by hand', { reason: 'unreadable', processor: name }, () => ({ offset: 4 }), {}],
    ['with an invalid offset', { reason: 'unreadable' }, () => ({ offset: -1 }), {}],
    ['without a selection', { reason: 'unreadable' }, () => ({ selection: undefined as never }), {}],
    [
      'with an invalid record time',
      { reason: 'unreadable' },
      () => ({ recordTimes: { a: { recordTime: 'yesterday' } } }),
      {},
    ],
    ['of another participant (G45)', { reason: 'participant' }, () => ({}), { world: other }],
    [
      'of another participant, which first refuses a few tokens (G45)',
      { reason: 'participant' },
      () => ({}),
      { world: { ...other, ...refusing(4) } },
    ],
    ['of a request that selects other updates (G45)', { reason: 'selection' }, () => savedCursor(bothParties), {}],
    [
      'of a ledger that was restored and has other updates since (G45)',
      { reason: 'ledger' },
      () => ({}),
      { prepare: restoreTo(9, 10, 11) },
    ],
    [
      'of a ledger that was restored and has no update at its offset',
      { reason: 'ledger' },
      () => ({}),
      { prepare: restoreTo(9, 13) },
    ],
  ])('is refused: %s', (_, facts, changes, options) => {
    const { handled, error, store } = restart({ ...savedCursor(), ...changes() }, options);
    expect(error).toMatchObject({ _tag: 'CursorError', ...facts });
    expect(handled).toEqual([]);
    expect(store.saves).toEqual([]);
  });

  it.each(['text', 7, true, []])('that is not an object is refused as unreadable: %p', (record) => {
    expect(restart(record).error).toMatchObject({ _tag: 'CursorError', reason: 'unreadable' });
  });

  it.each([null, undefined])('that is %p counts as absent', (record) => {
    expect(restart(record)).toMatchObject({ handled: upTo(12), error: undefined });
  });

  it.each<[string, () => Partial<Cursor>, RunOptions]>([
    ['on the same ledger', () => ({}), {}],
    ['if the participant does not report its id: 404', () => ({}), participant(errorReply(404, ''))],
    ['if the participant does not report its id: 403', () => ({}), participant(errorReply(403, errorBody('NA', -1)))],
    ['if a gateway does not report its id', () => ({}), participant(errorReply(403, 'no'))],
    ['if the participant does not report its id: 401', () => ({}), participant(errorReply(401, ''))],
    ['if the participant reports something else', () => ({}), participant(ok({ participant: 'p' }))],
    ['without a participant id, and gets the one that is reported', () => ({ participantId: undefined }), {}],
    [
      'for the same updates in another order',
      () => savedCursor(bothParties),
      { request: { updateFormat: acsDelta({ parties: [...parties].reverse() }) } },
    ],
    [
      'for more content of the same updates',
      () => savedCursor(bothParties),
      { request: { updateFormat: acsDelta({ parties, includeCreatedEventBlob: true }) } },
    ],
    [
      'if its last update is pruned',
      () => ({}),
      {
        prepare: ({ ledger }) => {
          ledger.pruned = 10;
        },
      },
    ],
    [
      'if the ledger does not answer at first',
      () => ({}),
      { world: { fault: (_, n) => (n < 8 ? errorReply(503, '') : undefined) } },
    ],
  ])('is where the processor continues: %s', (_, changes, options) => {
    const { handled, error, store } = restart({ ...savedCursor(), ...changes() }, options);
    expect({ handled, error }).toEqual({ handled: [11, 12], error: undefined });
    expect(store.cursor).toMatchObject({ participantId: 'participant1::1220ab' });
  });

  it('is accepted if the first response wrongly has no update', () => {
    let isFirst = true;
    const fault: WorldOptions['fault'] = ({ body }) => {
      if (body['endInclusive'] !== 10 || !isFirst) return undefined;
      isFirst = false;
      return ok([]);
    };
    expect(restart(savedCursor(), { world: { fault } })).toMatchObject({ handled: [11, 12], error: undefined });
    expect(isFirst).toBe(false);
  });

  it('is where the processor continues after onGap has skipped the reset of a ledger with few updates', () => {
    const session = (store: PlainStore, change: (world: ProcessWorld) => void) =>
      run({
        store,
        options: { onGap: () => [85] },
        world: { client: { retry: { giveUpAfterMs: 5_000 } } },
        prepare: (world) => {
          world.ledger.end = 100;
          change(world);
        },
      });
    const { store } = session(new PlainStore(), () => undefined);
    expect(store.cursor).toMatchObject({ offset: 100, lastUpdate: { offset: 10 } });
    // the last update before the reset must not be checked against this ledger again
    store.withRecord({ ...store.cursor, lastUpdate: { offset: 7, updateId: '1220ab' } });
    const { error } = session(store, ({ ledger }) => {
      ledger.restore(7);
      ledger.end = 90;
    });
    expect(error).toBeUndefined();
    expect(store.cursor).toMatchObject({ offset: 90, recordTimes: {} });
    expect(store.cursor?.lastUpdate).toBeUndefined();
  });

  it('after the end of the request completes without an update', () => {
    expect(restart(savedCursor(), { request: { endInclusive: 0 } })).toMatchObject({ handled: [], error: undefined });
  });

  it('beyond the ledger end means a reset ledger when the retry budget is used up', () => {
    const world = { client: { retry: { giveUpAfterMs: 5_000 } } };
    const { error, handled } = restart(savedCursor(), { prepare: restoreTo(7), world });
    expect(error).toMatchObject({ _tag: 'LedgerResetError', cursor: 10, ledgerEnd: 7 });
    expect(handled).toEqual([]);
  });

  it('before the pruned offset ends with the error of the feed', () => {
    const prepare = ({ ledger }: ProcessWorld): void => {
      ledger.pruned = 11;
    };
    expect(restart(savedCursor(), { prepare }).error).toMatchObject({ _tag: 'PrunedError', earliestOffset: 11 });
  });
});
