import { describe, expect, it } from '@jest/globals';
import { acsDelta } from '../../src/codecs/UpdateFormat.js';
import type { Cursor } from '../../src/process/CheckpointStore.js';
import { observe, type Observed } from '../helpers/observe.js';
import type { Reply } from '../helpers/scripted.js';
import { fill, upTo, type WorldOptions } from '../helpers/world.js';
import { transaction, errorBody, errorReply, ok } from '../helpers/wire.js';
import { marbles } from '../helpers/time.js';
import {
  mockPlatform,
  name,
  PlainStore,
  until,
  recordingHandler,
  processWorld,
  type TestRequest,
  type ProcessWorld,
} from './support.js';

mockPlatform();

/** The cursor of a processor that has handled ten updates. */
function savedCursor(request: TestRequest = {}): Cursor {
  const store = new PlainStore();
  marbles(({ flush }) => {
    observe(processWorld(10).process(recordingHandler().handle, { store, name }, request).pipe(until(1_000)));
    flush();
  });
  if (store.cursor === undefined) throw new Error('no cursor was saved');
  return store.cursor;
}

/** How a processor is restarted. */
interface Restart {
  readonly options?: WorldOptions;
  readonly request?: TestRequest;
  /** Changes the ledger before the restart. */
  readonly change?: (world: ProcessWorld) => void;
  readonly ms?: number;
}

/** Restarts a processor with a stored record, on a ledger of twelve updates. */
function restart(record: unknown, { options, request, change, ms = 20_000 }: Restart = {}): Outcome {
  const store = new PlainStore().withRecord(record);
  const { handled, handle } = recordingHandler();
  let seen: Observed<unknown> | undefined;
  marbles(({ flush }) => {
    const world = processWorld(12, options);
    change?.(world);
    seen = observe(world.process(handle, { store, name }, request).pipe(until(ms)));
    flush();
    expect(world.service.open).toBe(0);
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
  it('is where the processor continues', () => {
    expect(restart(savedCursor())).toMatchObject({ handled: [11, 12], error: undefined });
  });

  it.each([
    ['of a later version', { version: 2 }],
    ['without an offset', { offset: undefined }],
    ['with an invalid offset', { offset: -1 }],
    ['without a selection', { selection: undefined }],
    ['with an invalid record time', { recordTimes: { a: 'yesterday' } }],
  ])('is refused as unreadable: %s', (_, changes) => {
    const { handled, error, store } = restart({ ...savedCursor(), ...changes });
    expect(error).toMatchObject({ _tag: 'CursorError', reason: 'unreadable', processor: name });
    expect(handled).toEqual([]);
    expect(store.saves).toEqual([]);
  });

  it.each(['text', 7, true, []])('that is not an object is refused as unreadable: %p', (record) => {
    expect(restart(record).error).toMatchObject({ _tag: 'CursorError', reason: 'unreadable' });
  });

  it.each([null, undefined])('that is %p counts as absent', (record) => {
    expect(restart(record)).toMatchObject({ handled: upTo(12), error: undefined });
  });

  it('of another participant is refused', () => {
    const { error, handled } = restart(savedCursor(), { options: { participantId: 'other::1220ab' } });
    expect(error).toMatchObject({ _tag: 'CursorError', reason: 'participant' });
    expect(handled).toEqual([]);
  });

  it('of another participant is refused, even if the service first refuses a few tokens (G45)', () => {
    let tokens = 0;
    let refusals = 4;
    const fault: WorldOptions['fault'] = () => ((refusals -= 1) >= 0 ? errorReply(401, '') : undefined);
    const client = { token: () => `token-${(tokens += 1)}` };
    const { error, handled } = restart(savedCursor(), { options: { participantId: 'other::1220ab', fault, client } });
    expect(error).toMatchObject({ _tag: 'CursorError', reason: 'participant' });
    expect(handled).toEqual([]);
  });

  it.each<[string, Reply]>([
    ['404', errorReply(404, '')],
    ['403', errorReply(403, errorBody('NA', -1))],
    ['403 of a gateway', errorReply(403, 'no')],
    ['401', errorReply(401, '')],
    ['something else', ok({ participant: 'p' })],
  ])('is accepted, with its participant id, if the participant does not report its id: %s', (_, reply) => {
    const fault: WorldOptions['fault'] = ({ path }) => (path === pathOf('participant-id') ? reply : undefined);
    const { handled, error, store } = restart(savedCursor(), { options: { fault } });
    expect(error).toBeUndefined();
    expect(handled).toEqual([11, 12]);
    expect(store.cursor).toMatchObject({ participantId: 'participant1::1220ab' });
  });

  it('without a participant id gets the id that the participant reports', () => {
    const { store, handled } = restart({ ...savedCursor(), participantId: undefined });
    expect(handled).toEqual([11, 12]);
    expect(store.cursor).toMatchObject({ participantId: 'participant1::1220ab' });
  });

  it('of a request that selects other updates is refused (G45)', () => {
    const record = savedCursor({ updateFormat: acsDelta({ parties }) });
    expect(restart(record).error).toMatchObject({ _tag: 'CursorError', reason: 'selection' });
  });

  it('of a request that selects the same updates in another order is accepted', () => {
    const record = savedCursor({ updateFormat: acsDelta({ parties }) });
    const request = { updateFormat: acsDelta({ parties: [...parties].reverse() }) };
    expect(restart(record, { request })).toMatchObject({ handled: [11, 12], error: undefined });
  });

  it('of a request with more content of the same updates is accepted', () => {
    const record = savedCursor({ updateFormat: acsDelta({ parties }) });
    const request = { updateFormat: acsDelta({ parties, includeCreatedEventBlob: true }) };
    expect(restart(record, { request })).toMatchObject({ handled: [11, 12], error: undefined });
  });

  it('is accepted if the first response wrongly has no update', () => {
    let isFirst = true;
    const fault: WorldOptions['fault'] = ({ body }) => {
      if (body['endInclusive'] !== 10 || !isFirst) return undefined;
      isFirst = false;
      return ok([]);
    };
    expect(restart(savedCursor(), { options: { fault } })).toMatchObject({ handled: [11, 12], error: undefined });
    expect(isFirst).toBe(false);
  });

  it('of a ledger that was restored and has other updates since is refused (G45)', () => {
    const change = ({ ledger }: ProcessWorld): void => {
      ledger.restore(9);
      const text = (offset: number): object =>
        JSON.parse(JSON.stringify(transaction(offset)).replace(`1220${offset}`, 'another')) as object;
      for (const offset of [10, 11]) ledger.append(offset, text(offset));
    };
    const { error, handled } = restart(savedCursor(), { change });
    expect(error).toMatchObject({ _tag: 'CursorError', reason: 'ledger' });
    expect(handled).toEqual([]);
  });

  it('of a ledger that was restored and has no update at its offset is refused', () => {
    const change = ({ ledger }: ProcessWorld): void => {
      ledger.restore(9);
      fill(ledger, 13);
    };
    expect(restart(savedCursor(), { change }).error).toMatchObject({ _tag: 'CursorError', reason: 'ledger' });
  });

  it('is where the processor continues after onGap has skipped the reset of a ledger with few updates', () => {
    const store = new PlainStore();
    const session = (reset: boolean, handled: number[]): unknown => {
      let seen: Observed<unknown> | undefined;
      marbles(({ flush }) => {
        const world = processWorld(10);
        world.ledger.end = 100;
        if (reset) {
          world.ledger.restore(7);
          world.ledger.end = 90;
        }
        const onGap = (): number[] => [85];
        seen = observe(
          world.process(({ offset }) => void handled.push(offset), { store, name, onGap }).pipe(until(60_000)),
        );
        flush();
      });
      return seen?.error;
    };
    const handled: number[] = [];
    expect(session(false, handled)).toBeUndefined();
    expect(store.cursor).toMatchObject({ offset: 100, lastUpdate: { offset: 10 } });
    // the last update before the reset must not be checked against this ledger
    store.withRecord({ ...store.cursor, lastUpdate: { offset: 7, updateId: '12207' } });
    expect(session(true, handled)).toBeUndefined();
    expect(store.cursor).toMatchObject({ offset: 90 });
    expect(store.cursor?.lastUpdate).toBeUndefined();
    expect(store.cursor?.recordTimes).toEqual({});
  });

  it('after the end of the request completes without an update', () => {
    const { error, handled } = restart(savedCursor(), { request: { endInclusive: 0 } });
    expect(error).toBeUndefined();
    expect(handled).toEqual([]);
  });

  it('beyond the ledger end means a reset ledger, after a grace period', () => {
    const change = ({ ledger }: ProcessWorld): void => {
      ledger.restore(7);
    };
    const { error, handled } = restart(savedCursor(), { change });
    expect(error).toMatchObject({ _tag: 'LedgerResetError', cursor: 10, ledgerEnd: 7 });
    expect(handled).toEqual([]);
  });

  it('whose last update is pruned is where the processor continues', () => {
    const change = ({ ledger }: ProcessWorld): void => {
      ledger.pruned = 10;
    };
    expect(restart(savedCursor(), { change })).toMatchObject({ handled: [11, 12], error: undefined });
  });

  it('before the pruned offset ends with the error of the feed', () => {
    const change = ({ ledger }: ProcessWorld): void => {
      ledger.pruned = 11;
    };
    const { error } = restart(savedCursor(), { change });
    expect(error).toMatchObject({ _tag: 'PrunedError', earliestOffset: 11 });
  });

  it('is checked again if the ledger does not answer at first', () => {
    const fault: WorldOptions['fault'] = (_, n) => (n < 8 ? errorReply(503, '') : undefined);
    expect(restart(savedCursor(), { options: { fault } })).toMatchObject({ handled: [11, 12], error: undefined });
  });
});
