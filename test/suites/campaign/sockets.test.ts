import process from 'node:process';
import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ledgerEffects } from '../../../src/codecs/formats.js';
import type { Update } from '../../../src/codecs/Update.js';
import type { LedgerError } from '../../../src/errors/LedgerError.js';
import type { Gap, UpdatesOptions } from '../../../src/feed/UpdatesOptions.js';
import type { Sandbox } from '../../../src/sandbox/index.js';
import { valueOf } from '../../../src/sandbox/wire/events.js';
import { ownClock } from '../../helpers/ownClock.js';
import { secretsIn } from '../security/secretsIn.js';
import { schedules } from './schedules.js';
import { followedSchedule, socketSchedule, type SocketSchedule } from './SocketSchedule.js';
import { socketWorld, type SocketWorld } from './socketWorld.js';
import { watched, type Watched } from './watched.js';

/** How often each kind of event was told. */
const told = new Map<string, number>();
afterAll(() => {
  process.stdout.write(`campaign: told ${[...told].map((entry) => entry.join(' ')).join(', ')}\n`);
});

/** So many at a time: most of them wait most of the time. */
const lanes = 16;
const { numRuns, seed } = schedules(250);

const marks = (updates: readonly Update[]): string[] =>
  updates.flatMap((update) => ('updateId' in update ? [`${update.offset} ${update._tag} ${update.updateId}`] : []));

/** What the ledger has after an offset, in the words of `marks`. */
const ledgerAfter = ({ updates }: Sandbox, beginExclusive: number): string[] =>
  updates.flatMap((update) => {
    const { offset, updateId } = valueOf(update);
    return offset > beginExclusive ? [`${offset} ${Object.keys(update).join()} ${updateId}`] : [];
  });

const contractsOf = ({ updates }: Sandbox): string[] =>
  JSON.stringify(updates.slice(0, 20)).match(/(?<="contractId":")[^"]+/g) ?? [];

interface Played extends SocketWorld {
  readonly seen: Watched;
}

/** Plays a schedule to a feed until it has seen the last update, or has ended. */
async function played(
  schedule: SocketSchedule,
  check: (played: Played) => void,
  onGap: UpdatesOptions['onGap'] = 'fail',
): Promise<void> {
  const given = await socketWorld(schedule);
  const { maxPageSize, parallelRanges, transport } = schedule;
  try {
    const { sandbox, client, beginExclusive } = given;
    const feed$ = client.updates(
      { beginExclusive, updateFormat: ledgerEffects({ parties: 'any' }) },
      { maxPageSize, parallelRanges, transport, idleTimeoutMs: 50, onGap },
    );
    const seen = await watched(client, feed$, given.happen, ({ updates, events }) => {
      const last = ledgerAfter(sandbox, beginExclusive).at(-1);
      // beyond a gap there may be nothing
      const gap = events.find((event) => event._tag === 'GapFound');
      return marks(updates).at(-1) === last || Number.parseInt(last ?? '') <= (gap?.resumesFrom ?? 0);
    });
    expect(secretsIn([seen.error, seen.events], ['TOKEN-SECRET', ...contractsOf(sandbox)])).toEqual([]);
    expect(seen.events.filter(({ _tag }) => _tag === 'FeedEnded')).toHaveLength(1);
    for (const { _tag } of seen.events) told.set(_tag, (told.get(_tag) ?? 0) + 1);
    check({ ...given, seen });
  } finally {
    await given.sandbox.close();
  }
}

/** Runs a property in several lanes at once, each with a seed of its own that follows from the first. */
const inLanes = (property: fc.IAsyncProperty<[SocketSchedule]>, runs: number): Promise<unknown> =>
  Promise.all(
    Array.from({ length: lanes }, (_, lane) =>
      fc.assert(property, { numRuns: Math.ceil(runs / lanes), seed: seed + lane, endOnFailure: true }),
    ),
  );

// patience is for faults, not for a busy machine
beforeEach(() => {
  ownClock();
});

describe('over real sockets, what a subscriber sees', () => {
  it('is exactly the ledger, whatever happens to the service and on the way', async () => {
    const property = fc.asyncProperty(socketSchedule, (schedule) =>
      played(schedule, ({ seen, sandbox, beginExclusive }) => {
        expect(seen.error).toBeUndefined();
        expect(marks(seen.updates)).toEqual(ledgerAfter(sandbox, beginExclusive));
        const offsets = seen.updates.map(({ offset }) => offset);
        expect(offsets).toEqual(offsets.toSorted((a, b) => a - b));
      }),
    );
    await inLanes(property, numRuns);
  }, 600_000);

  it('is exactly the ledger, whatever happens to the sockets by which it follows', async () => {
    const property = fc.asyncProperty(followedSchedule, (schedule) =>
      played(schedule, ({ seen, sandbox, beginExclusive }) => {
        expect(seen.error).toBeUndefined();
        expect(marks(seen.updates)).toEqual(ledgerAfter(sandbox, beginExclusive));
      }),
    );
    await inLanes(property, numRuns / 4);
    expect(told.get('SocketOpened')).toBeGreaterThan(numRuns / 8);
  }, 600_000);

  it('is the ledger up to a gap that pruning makes, and what the caller chooses beyond it', async () => {
    const property = fc.asyncProperty(socketSchedule, async (schedule) => {
      const gaps: Gap[] = [];
      const onGap = (gap: Gap): number[] => {
        gaps.push(gap);
        return gap.error._tag === 'PrunedError' ? [gap.error.earliestOffset ?? -1] : [];
      };
      await played(
        { ...schedule, prunes: true },
        ({ seen, sandbox, beginExclusive }) => {
          expect(seen.error).toBeUndefined();
          // it is pruned once
          expect(gaps.length).toBeLessThan(2);
          const [gap] = gaps;
          const earliest = gap?.error._tag === 'PrunedError' ? (gap.error.earliestOffset ?? 0) : 0;
          const isInGap = (mark: string): boolean =>
            gap !== undefined && Number.parseInt(mark) > gap.cursor && Number.parseInt(mark) <= earliest;
          expect(marks(seen.updates)).toEqual(ledgerAfter(sandbox, beginExclusive).filter((mark) => !isInGap(mark)));
        },
        onGap,
      );
    });
    await inLanes(property, numRuns / 5);
  }, 600_000);

  it('is the ledger up to where the feed ends, and it ends only with the error that it must', async () => {
    const property = fc.asyncProperty(socketSchedule, (schedule) =>
      played({ ...schedule, prunes: true, keepsToken: true }, ({ seen, sandbox, beginExclusive }) => {
        const all = ledgerAfter(sandbox, beginExclusive);
        const some = marks(seen.updates);
        expect(all.slice(0, some.length)).toEqual(some);
        if (seen.error === undefined) expect(some).toEqual(all);
        else expect(['PrunedError', 'UnauthorizedError']).toContain((seen.error as LedgerError)._tag);
      }),
    );
    await inLanes(property, numRuns / 5);
  }, 600_000);
});
