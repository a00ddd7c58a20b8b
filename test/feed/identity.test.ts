import { describe, expect, it } from '@jest/globals';
import { asyncScheduler, Observable, takeUntil, tap, timer } from 'rxjs';
import type { Diagnostic } from '../../src/diagnostics/Diagnostic.js';
import type { UpdatesOptions } from '../../src/feed/UpdatesOptions.js';
import type { LedgerPosition } from '../../src/codecs/LedgerPosition.js';
import { positions } from '../../src/history/positions.js';
import { observe, offsets } from '../helpers/observe.js';
import type { Reply } from '../helpers/scripted.js';
import { marbles } from '../helpers/time.js';
import type { Entry } from '../helpers/virtualLedger.js';
import {
  errorReply,
  synchronizerId,
  transaction,
  transactionWith,
  transactionWithId,
  unknownVariant,
} from '../helpers/wire.js';
import { fill, updateFormat, upTo, world, type World, type WorldOptions } from '../helpers/world.js';
import { isEnd, isPage, play } from './worlds.js';

/** The updates of another ledger: the same offsets, but other updates. */
const others = (...all: readonly number[]): Entry[] =>
  all.map((offset) => ({ offset, element: transactionWithId(offset, `other${offset}`) }));

const replace =
  (end: number, participantId?: string) =>
  ({ ledger }: World): void => {
    ledger.replace(others(...upTo(end)), end, participantId);
  };

type Run = NonNullable<Parameters<typeof play>[1]>;

/** Runs a feed over a ledger of 9 updates for 80 seconds, in which something happens after 20 seconds. */
function outageOf(options: Parameters<typeof play>[0], change: (given: World) => void, { at = {}, ...run }: Run = {}) {
  const diagnostics: Diagnostic[] = [];
  let before = 0;
  const changeAt = (its: World): void => {
    before = its.service.requests.length;
    change(its);
  };
  const { seen, service } = play(
    typeof options === 'function' ? options : { participantId: 'first::1220', ...options },
    { updates: upTo(9), forMs: 80_000, diagnostics, ...run, at: { 20_000: changeAt, ...at } },
  );
  const unproven = diagnostics.filter(({ _tag }) => _tag === 'LedgerUnproven');
  return { seen, requests: service.requests.slice(before), unproven };
}

const another = { _tag: 'LedgerResetError', reason: 'anotherLedger' };

describe('after an outage, a feed', () => {
  it('ends with an error if another ledger has grown past its cursor (G19)', () => {
    const { seen } = outageOf({}, replace(30, 'second::1220'));
    expect(offsets(seen.values)).toEqual(upTo(9));
    expect(seen.error).toMatchObject({ ...another, cursor: 9 });
    expect(seen.error).toMatchObject({ difference: 'the participant is second::1220, not first::1220' });
  });

  it('ends with an error if another ledger of the same participant has grown past its cursor (G19)', () => {
    const { seen } = outageOf({}, replace(30));
    expect(offsets(seen.values)).toEqual(upTo(9));
    expect(seen.error).toMatchObject({ ...another, difference: 'update 12209 is no longer at offset 9' });
  });

  it('notices another ledger within seconds, although that ledger is quiet', () => {
    const { seen } = outageOf({}, replace(9));
    expect(seen.error).toMatchObject(another);
    expect(seen.endedAt).toBeLessThan(22_000);
  });

  it('ends with an error if the ledger was restored from a backup and has grown past its cursor', () => {
    const { seen } = outageOf({}, ({ ledger }) => {
      ledger.replace([...ledger.between(0, 8), ...others(9, 10, 11)], 11);
    });
    expect(offsets(seen.values)).toEqual(upTo(9));
    expect(seen.error).toMatchObject(another);
  });

  it('goes on after its last update if that is what the ledger was restored to', () => {
    const { seen } = outageOf(
      {},
      ({ ledger }) => {
        ledger.replace([...ledger.between(0, 9), ...others(15, 21)], 21);
      },
      { at: { 0: ({ ledger }) => (ledger.end = 20) } },
    );
    expect(seen.error).toBeUndefined();
    expect(offsets(seen.values)).toEqual([...upTo(9), 15, 21]);
  });

  it('ends with an error if the participant is another one and nothing was read', () => {
    const { seen } = outageOf({}, replace(30, 'second::1220'), { request: { beginExclusive: 9 } });
    expect(seen.values).toEqual([]);
    expect(seen.error).toMatchObject({ ...another, difference: 'the participant is second::1220, not first::1220' });
  });

  it('emits no checkpoint from before its cursor if the ledger was restored without a failed request', () => {
    const { seen } = outageOf({ earlyCheckpointMs: 500 }, ({ ledger }) => (ledger.end = 12), {
      at: { 1_000: ({ ledger }) => (ledger.end = 20) },
    });
    const checkpoints = offsets(seen.values.filter(({ _tag }) => _tag === 'OffsetCheckpoint'));
    expect([...new Set(checkpoints)]).toEqual([9, 20]);
  });

  it.each([0, 12])('ends with an error if the participant is another one with the same update (end %d)', (end) => {
    const change = ({ ledger }: World): void => {
      ledger.replace([...ledger.between(0, 9), ...others(...upTo(30).slice(12))], 30, 'second::1220');
    };
    const grow = ({ ledger }: World): void => {
      ledger.end = Math.max(9, end);
    };
    const { seen } = outageOf({ earlyCheckpointMs: 500 }, grow, { at: { 40_000: change } });
    expect(seen.values.some(({ offset }) => offset > 12)).toBe(false);
    expect(seen.error).toMatchObject(another);
  });

  it.each(['fail', 'emit'] as const)(
    'continues if its last update no longer decodes, with onUndecodable %j: offset and ID are the proof',
    (onUndecodable) => {
      marbles(({ flush }) => {
        const { ledger, client } = world({ latencyMs: 5, participantId: 'first::1220' });
        fill(ledger, ...upTo(9));
        const feed$ = client.updates({ beginExclusive: 0, updateFormat }, { onUndecodable });
        const seen = observe(feed$.pipe(takeUntil(timer(60_000))));
        timer(20_000).subscribe(() => {
          const changed = structuredClone(transaction(9)) as { update: { Transaction: { value: object } } };
          Object.assign(changed.update.Transaction.value, { recordTime: { upgraded: true } });
          ledger.replace([...ledger.between(0, 8), { offset: 9, element: changed }], 9);
          fill(ledger, 10);
        });
        flush();
        expect(seen.error).toBeUndefined();
        expect(offsets(seen.values)).toEqual(upTo(10));
      });
    },
  );

  it('skips nothing if its last update no longer decodes, and is at another offset', () => {
    const { seen } = outageOf(
      { earlyCheckpointMs: 500 },
      ({ ledger }) => {
        const moved = structuredClone(transaction(12)) as { update: { Transaction: { value: object } } };
        Object.assign(moved.update.Transaction.value, { updateId: '12209', recordTime: { upgraded: true } });
        const others = [15, 21].map((offset) => {
          const fields = { synchronizerId: 'sync2::1220ab', recordTime: '2026-07-24T11:00:00Z' };
          return { offset, element: transactionWith(offset, fields) };
        });
        // without a failed request
        ledger.replaceQuietly([...ledger.between(0, 8), { offset: 12, element: moved }, ...others], 21);
      },
      { at: { 1_000: ({ ledger }) => (ledger.end = 20) } },
    );
    expect(offsets(seen.values)).not.toContain(21);
    expect(seen.error).toMatchObject(another);
  });

  it('resumes on another ledger where onGap says, and it is the same one from then on (G19)', () => {
    const gaps: unknown[] = [];
    const onGap = (gap: unknown) => {
      gaps.push(gap);
      return [20];
    };
    const disconnect = ({ ledger }: World): void => {
      ledger.disconnect();
    };
    const { seen } = outageOf({}, replace(22, 'second::1220'), { options: { onGap }, at: { 40_000: disconnect } });
    expect(seen.error).toBeUndefined();
    expect(offsets(seen.values)).toEqual([...upTo(9), 21, 22]);
    expect(gaps).toEqual([{ cursor: 9, error: expect.objectContaining(another) }]);
  });

  it('notices another ledger if a gateway refused only the request for the ledger end meanwhile', () => {
    let isDue = false;
    const { seen } = outageOf(
      (its) => ({
        participantId: 'first::1220',
        fault: (request) => {
          if (!isEnd(request) || !isDue) return undefined;
          isDue = false;
          replace(30)(its());
          return errorReply(404, 'default backend - 404');
        },
      }),
      ({ ledger }) => {
        isDue = true;
        fill(ledger, 10);
      },
    );
    expect(offsets(seen.values)).toEqual(upTo(10));
    expect(seen.error).toMatchObject(another);
  });

  it('in descending order emits nothing of another ledger', () => {
    const { seen } = play(
      { latencyMs: 50 },
      {
        updates: upTo(90),
        request: { endInclusive: 90, descendingOrder: true },
        options: { maxPageSize: 10 },
        at: { 120: replace(120) },
      },
    );
    expect(offsets(seen.values)).toEqual(upTo(90).slice(70).reverse());
    expect(seen.error).toMatchObject(another);
  });

  it('that lasted while the machine slept proves the ledger, too', () => {
    // the response arrives after two minutes, as if nothing had happened
    const slept = ({ ledger }: World) =>
      new Observable<Reply>((subscriber) =>
        timer(120_000).subscribe(() => {
          subscriber.next(ledger.page(ledger.between(9, 30)));
        }),
      );
    const { seen } = play(
      (its) => ({
        latencyMs: 0,
        fault: ({ query }, n) => (query['stream_idle_timeout_ms'] !== undefined && n < 5 ? slept(its()) : undefined),
      }),
      { updates: upTo(9), forMs: 200_000, at: { 60_000: replace(30) } },
    );
    expect(offsets(seen.values)).toEqual(upTo(9));
    expect(seen.error).toMatchObject(another);
  });
});

describe('after an outage of the same ledger, a feed continues', () => {
  const grow = ({ ledger }: World): void => {
    ledger.disconnect();
    fill(ledger, 10, 11);
  };
  const all = [...upTo(9), 10, 11];

  it('with two more requests: for the participant and for the last update', () => {
    const disconnect = ({ ledger }: World): void => {
      ledger.disconnect();
    };
    // before the participant is read again
    const { seen, requests } = outageOf({}, disconnect, { forMs: 50_000 });
    expect(offsets(seen.values)).toEqual(upTo(9));
    const polls = requests.filter(({ query }) => query['stream_idle_timeout_ms'] !== undefined);
    expect(requests.length - polls.length - requests.filter(isEnd).length).toBe(2);
    expect(polls.filter(({ query }) => query['stream_idle_timeout_ms'] === '25')).toHaveLength(1);
  });

  it.each<readonly [string, WorldOptions, Run]>([
    ['that was restarted', {}, {}],
    ['of a service without the ID of the participant', { participantId: undefined }, {}],
    ['of a service of two operations', { participantId: undefined, hasLedgerEnd: false }, {}],
    ['without /v2/updates/flats', { flats: 'gone' }, {}],
    [
      'at an update of an unknown variant',
      {},
      {
        updates: upTo(8),
        at: {
          0: ({ ledger }) => {
            ledger.append(9, unknownVariant(9));
          },
        },
      },
    ],
  ])('%s', (_, options, run) => {
    const { seen, unproven } = outageOf(options, grow, run);
    expect(seen.error).toBeUndefined();
    expect(offsets(seen.values)).toEqual(all);
    expect(unproven).toEqual([]);
  });

  it('in descending order, down to the first update', () => {
    const timed = ({ ledger }: World): void => {
      for (const offset of upTo(90)) {
        const recordTime = new Date(Date.UTC(2026, 6, 24) + offset).toISOString();
        ledger.append(offset, transactionWith(offset, { recordTime }));
      }
    };
    const { seen } = play(
      { latencyMs: 50 },
      {
        request: { endInclusive: 90, descendingOrder: true },
        options: { maxPageSize: 10 },
        at: {
          0: timed,
          120: ({ ledger }) => {
            ledger.disconnect();
          },
        },
      },
    );
    expect([offsets(seen.values), seen.completed]).toEqual([upTo(90).reverse(), true]);
  });

  it('that was pruned exactly up to the cursor, and reports once that nothing proves it', () => {
    const { seen, unproven } = outageOf(
      { participantId: undefined },
      (given) => {
        given.ledger.pruned = 9;
        grow(given);
      },
      {
        at: {
          22_000: ({ ledger }) => {
            ledger.pruned = 11;
            ledger.disconnect();
          },
        },
      },
    );
    expect(seen.error).toBeUndefined();
    expect(offsets(seen.values)).toEqual(all);
    expect(unproven).toMatchObject([{ cursor: 9 }]);
  });

  it('on a replica that lags for some seconds', () => {
    let end: number | undefined;
    const { seen } = outageOf(
      (its) => ({
        participantId: 'first::1220',
        fault: (request) => (end === undefined ? undefined : its().ledger.reply(request, end)),
      }),
      ({ ledger }) => {
        end = 6;
        ledger.disconnect();
      },
      {
        at: {
          26_000: ({ ledger }) => {
            end = undefined;
            fill(ledger, 10, 11);
          },
        },
      },
    );
    expect(seen.error).toBeUndefined();
    expect(offsets(seen.values)).toEqual(all);
  });
});

describe('a feed after a position', () => {
  const since = (lastUpdate: { offset: number; updateId: string }, pruned = 0) =>
    marbles(({ flush }) => {
      const { ledger, client, service } = world({ latencyMs: 5, participantId: 'first::1220' });
      fill(ledger, ...upTo(30));
      ledger.pruned = pruned;
      const { updateId } = lastUpdate;
      const recordTimes = { [synchronizerId]: { recordTime: '2026-07-24T10:00:00Z', updateId } };
      const after = { offset: 20, participantId: 'first::1220', lastUpdate, recordTimes };
      const seen = observe(client.updates({ after, endInclusive: 30, updateFormat }));
      flush();
      return { seen, service };
    });

  it('emits what follows if the ledger still has it', () => {
    const { seen, service } = since({ offset: 20, updateId: '122020' });
    expect([offsets(seen.values), seen.completed]).toEqual([upTo(30).slice(20), true]);
    // the ledger end, the participant, the last update, a page, and the participant again
    expect(service.requests).toHaveLength(5);
  });

  it('emits nothing if the ledger has another one at its offset', () => {
    expect(since({ offset: 20, updateId: 'other20' }).seen).toMatchObject({ values: [], error: another });
  });

  it('emits what is between the last update and the offset, which was never read', () => {
    expect(offsets(since({ offset: 18, updateId: '122018' }).seen.values)).toEqual(upTo(30).slice(18));
  });

  it.each([
    [15, undefined],
    [20, undefined],
    [21, { _tag: 'PrunedError', earliestOffset: 21 }],
  ])(
    'passes what is pruned up to %d while it reads that again, and finds a gap only after its position',
    (to, error) => {
      marbles(({ flush }) => {
        const { ledger, client } = world({
          latencyMs: 5,
          participantId: 'first::1220',
          fault: (request) => {
            if (isPage(request) && Number(request.body['endInclusive']) > 20) ledger.pruned = to;
            return undefined;
          },
        });
        fill(ledger, ...upTo(9), 22);
        const lastUpdate = { offset: 9, updateId: '12209' };
        const after = { offset: 20, participantId: 'first::1220', lastUpdate, recordTimes: {} };
        const seen = observe(client.updates({ after, updateFormat }).pipe(takeUntil(timer(30_000))));
        flush();
        if (error === undefined) expect(seen.error).toBeUndefined();
        else expect(seen.error).toMatchObject(error);
        expect(offsets(seen.values)).toEqual(error === undefined ? [22] : []);
      });
    },
  );

  it('emits what follows if it is pruned', () => {
    expect(since({ offset: 20, updateId: '122020' }, 20).seen).toMatchObject({ completed: true });
  });

  it.each([
    [{ offset: -1, recordTimes: {} }, 'after.offset'],
    [{ offset: 4, lastUpdate: { offset: 5, updateId: '1220ab' }, recordTimes: {} }, 'after.lastUpdate.offset'],
    [{ offset: 1 }, 'after.recordTimes'],
  ])('refuses %j', (after, path) => {
    const { client } = world();
    const seen = observe(client.updates({ after: after as LedgerPosition, updateFormat }));
    expect(seen.error).toMatchObject({ _tag: 'InvalidRequestError', problems: [{ path }] });
  });
});

describe('while all is well, a feed', () => {
  it.each([
    ['once a minute', 'first::1220', 10],
    ['once, if the participant does not report it', undefined, 1],
  ])('sends no request more than for the updates, but for the ID of the participant %s', (_, participantId, most) => {
    const { service } = play(
      { earlyCheckpointMs: 500, participantId },
      { updates: upTo(9), forMs: 600_000, at: { 1_000: ({ ledger }) => (ledger.end = 12) } },
    );
    const proofs = service.requests.filter(({ body }) => body['endInclusive'] === 9 && body['beginExclusive'] === 8);
    expect(proofs).toEqual([]);
    const ids = service.requests.filter(({ path }) => path.endsWith('/participant-id'));
    expect(ids.length).toBeLessThanOrEqual(most);
    expect(ids.length).toBeGreaterThanOrEqual(most - 2);
  });

  it('does not mind that a gateway blocks the path of the ID later: the updates prove the ledger', () => {
    const { seen, service } = play(
      {
        participantId: 'first::1220',
        fault: ({ path }) =>
          path.endsWith('/participant-id') && asyncScheduler.now() > 100_000 ? errorReply(503, '') : undefined,
      },
      {
        updates: upTo(9),
        forMs: 1_200_000,
        at: {
          900_000: ({ ledger }) => {
            fill(ledger, 12);
          },
        },
      },
    );
    expect(seen.error).toBeUndefined();
    expect(offsets(seen.values)).toEqual([...upTo(9), 12]);
    expect(service.requests.filter(({ path }) => path.endsWith('/participant-id')).length).toBeLessThanOrEqual(20);
  });
});

describe('a switch to a participant that has the last update at the same offset, without a failed request,', () => {
  const read = (options: UpdatesOptions, known?: LedgerPosition) => {
    const diagnostics: Diagnostic[] = [];
    const positionsRead: LedgerPosition[] = [];
    let seen: ReturnType<typeof observe<unknown>> | undefined;
    marbles(({ flush }) => {
      const { ledger, client } = world({ latencyMs: 5, participantId: 'first::1220' });
      fill(ledger, ...upTo(9));
      client.diagnostics$.subscribe((diagnostic) => diagnostics.push(diagnostic));
      const start = known === undefined ? { beginExclusive: 0 } : { after: known };
      const updates$ = client.updates({ ...start, updateFormat }, options).pipe(positions(), takeUntil(timer(200_000)));
      seen = observe(updates$.pipe(tap(([, position]) => positionsRead.push(position))));
      timer(20_000).subscribe(() => {
        ledger.reconfigure({ participantId: 'second::1220' });
      });
      timer(150_000).subscribe(() => {
        fill(ledger, 10);
      });
      flush();
    });
    return { seen, diagnostics, positionsRead };
  };
  const lastUpdate = { offset: 9, updateId: '12209' };
  const recordTimes = { [synchronizerId]: { recordTime: '2026-07-24T10:00:00Z', updateId: '12209' } };

  it.each([undefined, { offset: 9, participantId: 'first::1220', lastUpdate, recordTimes }])(
    'is noticed within a minute (after %j)',
    (known) => {
      const { seen } = read({}, known);
      expect(seen?.error).toMatchObject(another);
      expect(seen?.endedAt).toBeLessThan(75_000);
    },
  );

  it('moves a feed that may relocate, whose positions then name the new one', () => {
    const { seen, diagnostics, positionsRead } = read({ onOtherNode: 'relocate' });
    expect(seen?.error).toBeUndefined();
    expect(positionsRead.map(({ offset }) => offset)).toEqual(upTo(10));
    expect(positionsRead.at(-1)).toMatchObject({ participantId: 'second::1220' });
    expect(diagnostics).toContainEqual(expect.objectContaining({ _tag: 'PositionMoved', reason: 'relocated' }));
  });
});

describe('a switch to a participant that has pruned the last update, without a failed request,', () => {
  it('is noticed before anything of that one is emitted (G19)', () => {
    const { seen } = outageOf(
      { participantId: 'first::1220' },
      ({ ledger }) => {
        ledger.replaceQuietly(others(...upTo(21)), 21);
        ledger.reconfigure({ participantId: 'second::1220' });
        ledger.pruned = 15;
      },
      { at: { 0: ({ ledger }) => (ledger.end = 20) } },
    );
    expect(offsets(seen.values)).toEqual(upTo(9));
    expect(seen.error).toMatchObject({ ...another, difference: 'the participant is second::1220, not first::1220' });
  });
});

describe('a restore of the same participant, without a failed request,', () => {
  it.each([9, 12])('is noticed if another update is at the offset of the last one (end %d) (G19)', (end) => {
    const { seen } = outageOf({}, ({ ledger }) => {
      ledger.replaceQuietly([...ledger.between(0, 8), ...others(...upTo(end).slice(8))], end);
    });
    expect(offsets(seen.values)).toEqual(upTo(9));
    expect(seen.error).toMatchObject({ ...another, difference: 'update 12209 is no longer at offset 9' });
  });

  it('takes a feed back to its last update if the ledger ends before its cursor', () => {
    const diagnostics: Diagnostic[] = [];
    const { seen } = outageOf({}, ({ ledger }) => (ledger.end = 12), {
      diagnostics,
      at: { 0: ({ ledger }) => (ledger.end = 20) },
    });
    expect(seen.error).toBeUndefined();
    expect(diagnostics.filter(({ _tag }) => _tag === 'PositionMoved')).toMatchObject([
      { reason: 'outage', from: { offset: 20 }, to: { offset: 9 } },
    ]);
  });
});

describe('a feed that has read ahead before an outage', () => {
  it('emits nothing of the ledger before together with what another ledger has', () => {
    let isHeld = false;
    const { seen } = play(
      (its) => ({
        // the page after the cursor hangs while those after it arrive
        fault: (request) => {
          if (!isPage(request) || Number(request.body['beginExclusive']) < 9 || isHeld) return undefined;
          isHeld = true;
          return new Observable((subscriber) =>
            timer(1_000).subscribe(() => {
              const { ledger } = its();
              ledger.replace([...ledger.between(0, 15), ...others(...upTo(100).slice(15))], 100);
              subscriber.error(new Error('ECONNRESET'));
            }),
          );
        },
      }),
      { updates: upTo(100), request: { endInclusive: 100 }, options: { maxPageSize: 10, parallelRanges: 8 } },
    );
    const ids = seen.values.map((update) => ('updateId' in update ? update.updateId : ''));
    expect(offsets(seen.values)).toEqual(upTo(100));
    expect(ids.slice(15).every((id) => id.startsWith('other'))).toBe(true);
  });
});
