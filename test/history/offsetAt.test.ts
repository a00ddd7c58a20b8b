import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { defer, firstValueFrom, of, throwError } from 'rxjs';
import type { Update } from '../../src/codecs/Update.js';
import { PrunedError } from '../../src/errors/feed.js';
import { offsetAt, type SearchedLedger, toTimestamp } from '../../src/history/offsetAt.js';
import { acsDelta, createLedger, isLedgerError } from '../../src/index.js';
import { sandboxes } from '../helpers/localServers.js';
import { marbles } from '../helpers/time.js';
import { observe } from '../helpers/observe.js';
import { brokenConnection, notFound, transactionWith } from '../helpers/wire.js';
import { world } from '../helpers/world.js';

/** An update of a history: its offset, its synchronizer and its record time, in microseconds. */
interface Entry {
  readonly offset: number;
  readonly synchronizer: string;
  readonly time: number;
}

/** A record time, with as many digits as it needs, as a ledger sends it. */
const timeOf = (micros: number): string =>
  `2026-11-23T10:00:00.${String(micros).padStart(6, '0')}Z`.replace(/\.?0+Z/, 'Z');

const toUpdate = ({ offset, synchronizer, time }: Entry): Update =>
  ({
    _tag: 'TopologyTransaction',
    offset,
    synchronizerId: synchronizer,
    recordTime: timeOf(time),
  }) as unknown as Update;

/** A participant with a history, of which it has pruned a part, and the number of requests for a range. */
function participant(history: readonly Entry[], { end = 0, pruned = 0, synchronizers = ['one'], maxPage = 200 } = {}) {
  const counts = { ranges: 0 };
  const ledger: SearchedLedger = {
    ledgerEnd$: of(Math.max(end, history.at(-1)?.offset ?? 0)),
    synchronizers$: of(synchronizers),
    read: ({ beginExclusive, endInclusive }, limit) =>
      defer(() => {
        counts.ranges += 1;
        if (beginExclusive < pruned) return throwError(() => new PrunedError('/v2/updates', pruned));
        const all = history.filter(({ offset }) => offset > beginExclusive && offset <= endInclusive);
        return of(all.slice(0, Math.min(limit, maxPage)).map(toUpdate));
      }),
  };
  return { ledger, counts };
}

const find = (ledger: SearchedLedger, micros: number): Promise<number> =>
  firstValueFrom(offsetAt(ledger, timeOf(micros)));

/** Histories of up to three synchronizers, whose record times ascend within each, with any gaps between offsets. */
const histories = fc
  .tuple(
    fc.array(fc.record({ gap: fc.integer({ min: 1, max: 9 }), of: fc.nat(2), by: fc.integer({ min: 0, max: 300 }) }), {
      maxLength: 60,
    }),
    fc.integer({ min: 1, max: 3 }),
    // how far the synchronizers are apart
    fc.tuple(fc.nat(5_000), fc.nat(5_000), fc.nat(5_000)),
  )
  .map(([steps, count, skews]) => {
    const times: number[] = [...skews];
    let offset = 0;
    const history = steps.map(({ gap, of: index, by }): Entry => {
      const chosen = index % count;
      times[chosen] = (times[chosen] ?? 0) + by;
      return { offset: (offset += gap), synchronizer: `s${chosen}`, time: times[chosen] };
    });
    return { history, synchronizers: Array.from({ length: count }, (_, i) => `s${i}`) };
  });

describe('the offset at a record time', () => {
  it('is the one before the first update that is not earlier, on every history', async () => {
    await fc.assert(
      fc.asyncProperty(
        histories,
        fc.nat(12_000),
        fc.nat(20),
        fc.constantFrom(1, 3, 200),
        async (h, time, rest, maxPage) => {
          const { history, synchronizers } = h;
          const end = (history.at(-1)?.offset ?? 0) + rest;
          const first = history.find((entry) => entry.time >= time);
          const { ledger } = participant(history, { end, synchronizers, maxPage });
          expect(await find(ledger, time)).toBe(first === undefined ? end : first.offset - 1);
        },
      ),
      { numRuns: 600 },
    );
  });

  it('is exact on a pruned ledger, or a PrunedError', async () => {
    await fc.assert(
      fc.asyncProperty(histories, fc.nat(12_000), fc.nat(200), async ({ history, synchronizers }, time, at) => {
        const pruned = Math.min(at, history.at(-1)?.offset ?? 0);
        const { ledger } = participant(history, { synchronizers, pruned });
        const first = history.find((entry) => entry.time >= time);
        const expected = first === undefined ? (history.at(-1)?.offset ?? 0) : first.offset - 1;
        const found = await find(ledger, time).catch((error: unknown) => error);
        if (isLedgerError(found, 'PrunedError')) {
          expect(found.earliestOffset).toBe(pruned);
          // something is not known: no update of some synchronizer after the pruned ones shows that they are earlier
          const visible = history.filter(({ offset }) => offset > pruned);
          const isShown = synchronizers.every((id) => {
            const own = visible.filter(({ synchronizer }) => synchronizer === id);
            return own[0] !== undefined && own[0].time < time;
          });
          expect(isShown).toBe(false);
        } else if (expected >= pruned) expect(found).toBe(expected);
        else expect(found).toBeGreaterThanOrEqual(pruned);
      }),
      { numRuns: 400 },
    );
  });

  it.each([
    ['of 50 offsets', 1, 0],
    ['of as many updates as a page has, however many offsets are between them', 100_000, 0],
    ['of a few updates before a long time without one', 10, 10_000_000],
  ])('takes one request for each halving, and one for the last part: a ledger %s', async (_, gap, rest) => {
    const history = Array.from({ length: 50 }, (_, i) => ({
      offset: gap * (i + 1),
      synchronizer: 'one',
      time: 10 * i,
    }));
    const halvings = rest === 0 ? 1 : Math.ceil(Math.log2(rest / 50));
    for (const time of [0, 5, 255, 490, 500]) {
      const { ledger, counts } = participant(history, { end: 50 * gap + rest });
      const first = history.find((entry) => entry.time >= time);
      expect(await find(ledger, time)).toBe(first === undefined ? 50 * gap + rest : first.offset - 1);
      expect(counts.ranges).toBeLessThanOrEqual(halvings + 1);
    }
  });

  it('takes a request for each halving of the ledger, however long that is', async () => {
    const history = Array.from({ length: 3_000 }, (_, i) => ({
      offset: 1_000 * (i + 1),
      synchronizer: 'one',
      time: i,
    }));
    for (const time of [0, 1, 777, 1_500, 2_999, 5_000]) {
      const { ledger, counts } = participant(history);
      const first = history.find((entry) => entry.time >= time);
      expect(await find(ledger, time)).toBe(first === undefined ? 3_000_000 : first.offset - 1);
      expect(counts.ranges).toBeLessThanOrEqual(Math.ceil(Math.log2(3_000 / 50)) + 2);
    }
  });

  it('takes a few more requests for synchronizers that are in use', async () => {
    const history = Array.from({ length: 3_000 }, (_, i) => ({
      offset: i + 1,
      synchronizer: `s${i % 3}`,
      time: i + (i % 3) * 200,
    }));
    const { ledger, counts } = participant(history, { synchronizers: ['s0', 's1', 's2'] });
    expect(await find(ledger, 2_000)).toBe(history.findIndex(({ time }) => time >= 2_000));
    expect(counts.ranges).toBeLessThanOrEqual(3 * 2 * Math.ceil(Math.log2(3_000 / 50)));
  });

  it('is right although a synchronizer has had nothing for long', async () => {
    // the second one was ahead, and then silent while the first one caught up
    const ahead = [{ offset: 1, synchronizer: 's1', time: 9_000 }];
    const late = Array.from({ length: 2_000 }, (_, i) => ({ offset: i + 2, synchronizer: 's0', time: i }));
    const { ledger } = participant([...ahead, ...late], { synchronizers: ['s0', 's1'] });
    expect(await find(ledger, 1_000)).toBe(0);
  });

  it.each([[['s0']], [[]]])(
    'is right although the participant is not connected to all whose updates it has, but to %j',
    async (synchronizers) => {
      // the second one was connected late, read again what it had missed, and is disconnected now
      const own = Array.from({ length: 100 }, (_, i) => ({ offset: i + 1, synchronizer: 's0', time: 10 * i }));
      const late = Array.from({ length: 300 }, (_, i) => ({ offset: i + 101, synchronizer: 's1', time: i }));
      const between = { offset: 401, synchronizer: 's0', time: 1_000 };
      const { ledger } = participant([...own, ...late, between], { synchronizers });
      expect(await find(ledger, 500)).toBe(50);
    },
  );

  it('is before an update of the same microsecond, and after one of the microsecond before', async () => {
    const { ledger } = participant([
      { offset: 4, synchronizer: 'one', time: 999_998 },
      { offset: 9, synchronizer: 'one', time: 999_999 },
    ]);
    const at = (time: string | Date) => firstValueFrom(offsetAt(ledger, toTimestamp(time)));
    expect(await at('2026-11-23T10:00:00.999998Z')).toBe(3);
    expect(await at('2026-11-23T11:00:00.999999+01:00')).toBe(8);
    expect(await at('2026-11-23T10:00:00.9999991Z')).toBe(9);
    expect(await at(new Date('2026-11-23T10:00:00.999Z'))).toBe(3);
  });
});

describe('a time', () => {
  it.each([
    ['2026-11-27T10:00+01:00', '2026-11-27T09:00:00Z'],
    ['2026-11-27T00:30:15.123456+05:30', '2026-11-26T19:00:15.123456Z'],
    ['2026-11-27T10:00:00.000001Z', '2026-11-27T10:00:00.000001Z'],
    ['2026-12-31T23:30:00-01:00', '2027-01-01T00:30:00Z'],
  ])('%s is %s', (time, expected) => {
    expect(toTimestamp(time)).toBe(expected);
  });

  it.each([
    '',
    'noon',
    '2026-11-27',
    '2026-11-27T10:00',
    '2026-11-27 10:00Z',
    '2026-02-30T10:00Z',
    '2026-11-27T25:00Z',
  ])("'%s' is refused", (time) => {
    expect(() => toTimestamp(time)).toThrow(TypeError);
  });

  it('that is no valid Date is refused', () => {
    for (const time of [new Date(Number.NaN), 1_764_500_000_000, null])
      expect(() => toTimestamp(time as Date)).toThrow(/^time must be a Date, or a text with a time zone/);
    expect(() => createLedger({ baseUrl: 'http://ledger.example' }).offsetAt('2026-11-27')).toThrow(/time zone/);
  });
});

describe('offsetAt of a ledger', () => {
  const open = sandboxes();

  it('is where a feed begins that has everything since a time, of the parties of the request', async () => {
    const sandbox = await open();
    sandbox.generate(300);
    const ledger = createLedger({ baseUrl: sandbox.url });
    const [party = ''] = sandbox.parties;
    for (const parties of ['any' as const, [party]]) {
      const all = await readAll(ledger, parties);
      for (const { recordTime } of [all[0], all[140], all[200], all.at(-1)].filter((update) => update !== undefined)) {
        const offset = await firstValueFrom(ledger.offsetAt(recordTime, { parties }));
        const before = all.filter((update) => update.offset <= offset);
        expect(before.filter((update) => !(update.recordTime < recordTime))).toEqual([]);
        const next = all.find((update) => update.offset > offset);
        expect(next !== undefined && next.recordTime >= recordTime).toBe(true);
      }
    }
    expect(await firstValueFrom(ledger.offsetAt('2999-01-01T00:00Z'))).toBe(sandbox.ledgerEnd);
    const early = await firstValueFrom(ledger.offsetAt(new Date(0)));
    expect((await readAll(ledger, 'any')).filter(({ offset }) => offset <= early)).toEqual([]);
    sandbox.prune(100);
    await expect(firstValueFrom(ledger.offsetAt(new Date(0)))).rejects.toMatchObject({ _tag: 'PrunedError' });
  });

  it('repeats a request after a transient failure, and works without the list of synchronizers', () => {
    marbles(({ flush }) => {
      let failures = 3;
      const { ledger, client } = world({
        latencyMs: 5,
        fault: ({ path }) => {
          if (path === '/v2/state/connected-synchronizers') return notFound;
          return (failures -= 1) >= 0 ? brokenConnection : undefined;
        },
      });
      for (const offset of [1, 2, 3])
        ledger.append(offset, transactionWith(offset, { recordTime: `2026-11-23T10:00:0${offset}Z` }));
      const seen = observe(client.offsetAt('2026-11-23T10:00:02Z'));
      flush();
      expect(seen).toMatchObject({ error: undefined, values: [1], completed: true });
    });
  });
});

/** Reads all updates of parties that have a record time. */
async function readAll(ledger: ReturnType<typeof createLedger>, parties: readonly string[] | 'any') {
  const endInclusive = await firstValueFrom(ledger.ledgerEnd());
  const updates: Extract<Update, { recordTime: string }>[] = [];
  await ledger.updates({ beginExclusive: 0, endInclusive, updateFormat: acsDelta({ parties }) }).forEach((update) => {
    if ('recordTime' in update) updates.push(update);
  });
  return updates;
}
