import process from 'node:process';
import fc from 'fast-check';
import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { filter, firstValueFrom } from 'rxjs';
import { ledgerEffects } from '../../../src/codecs/UpdateFormat.js';
import type { Update } from '../../../src/codecs/Update.js';
import type { Diagnostic } from '../../../src/diagnostics/Diagnostic.js';
import type { LedgerError } from '../../../src/errors/LedgerError.js';
import type { Gap } from '../../../src/feed/LedgerFeed.js';
import type { UpdatesOptions } from '../../../src/feed/UpdatesOptions.js';
import type { HttpPort } from '../../../src/http/HttpPort.js';
import type { Sandbox } from '../../../src/sandbox/index.js';
import { updateValue } from '../../../src/sandbox/wire/WireUpdate.js';
import { undiciPort } from '../../../src/undici/index.js';
import { secretsIn } from '../security/secretsIn.js';
import { campaignRuns, checkInLanes, formatCounts, increase } from './runs.js';
import { followedSchedule, socketSchedule, type SocketSchedule } from './SocketSchedule.js';
import { socketWorld, type SocketWorld, type WatchedFeed, watchFeed } from './socketWorld.js';
import { useProcessTime } from '../../helpers/time.js';

/** How often each kind of diagnostic was reported. */
const diagnosticCounts = new Map<string, number>();
afterAll(() => {
  process.stdout.write(`campaign: diagnostics ${formatCounts(diagnosticCounts)}\n`);
});

/** How many schedules run at a time: most of them wait most of the time. */
const lanes = 16;
const { numRuns, seed } = campaignRuns(8, 500, 16);
const undici = undiciPort();

/** Checks schedules, each with one of the two HTTP clients. */
const check = (
  schedules: fc.Arbitrary<SocketSchedule>,
  runs: number,
  play: (schedule: SocketSchedule, port: HttpPort | undefined) => Promise<void>,
): Promise<unknown> => {
  const client = fc.constantFrom('fetch', 'undici');
  const property = fc.asyncProperty(fc.tuple(schedules, client), ([schedule, name]) =>
    play(schedule, name === 'undici' ? undici : undefined),
  );
  return checkInLanes(property, { runs, seed, lanes });
};

/** Updates in short, without checkpoints. */
const summarize = (updates: readonly Update[]): string[] =>
  updates.flatMap((update) => ('updateId' in update ? [`${update.offset} ${update._tag} ${update.updateId}`] : []));

/** What the ledger has after an offset, written as `summarize` does. */
const ledgerAfter = ({ updates }: Sandbox, beginExclusive: number): string[] =>
  updates.flatMap((update) => {
    const { offset, updateId } = updateValue(update);
    return offset > beginExclusive ? [`${offset} ${Object.keys(update).join()} ${updateId}`] : [];
  });

const contractIds = ({ updates }: Sandbox): string[] =>
  JSON.stringify(updates.slice(0, 20)).match(/(?<="contractId":")[^"]+/g) ?? [];

/** Whether a feed has opened a WebSocket, or has tried to. */
const isOfSocket = ({ _tag }: Diagnostic): boolean => _tag === 'SocketOpened' || _tag === 'SocketClosed';

interface PlayedWorld extends SocketWorld {
  readonly seen: WatchedFeed;
}

interface PlayOptions extends Pick<UpdatesOptions, 'onGap'> {
  readonly port: HttpPort | undefined;
  /** Whether the actions of the schedule begin when the feed has caught up and opens its first WebSocket. */
  readonly isFollowed?: boolean;
}

/** Plays a schedule to a feed until it has received the last update, or has ended. */
async function play(
  schedule: SocketSchedule,
  { port, onGap = 'fail', isFollowed = false }: PlayOptions,
  verify: (world: PlayedWorld) => void,
): Promise<void> {
  const world = await socketWorld(schedule, port);
  const { maxPageSize, parallelRanges } = schedule;
  try {
    const { sandbox, client, beginExclusive } = world;
    const feed$ = client.updates(
      { beginExclusive, updateFormat: ledgerEffects({ parties: 'any' }) },
      { maxPageSize, parallelRanges, idleTimeoutMs: 50, onGap },
    );
    const run = async (): Promise<void> => {
      if (isFollowed) await firstValueFrom(client.diagnostics$.pipe(filter(isOfSocket)));
      await world.run();
    };
    const seen = await watchFeed(client, feed$, run, ({ updates, events }) => {
      const last = ledgerAfter(sandbox, beginExclusive).at(-1);
      // nothing may follow a gap
      const gap = events.find((event) => event._tag === 'GapFound');
      return summarize(updates).at(-1) === last || Number.parseInt(last ?? '') <= (gap?.resumesFrom ?? 0);
    });
    expect(secretsIn([seen.error, seen.events], ['TOKEN-SECRET', ...contractIds(sandbox)])).toEqual([]);
    expect(seen.events.filter(({ _tag }) => _tag === 'FeedEnded')).toHaveLength(1);
    for (const { _tag } of seen.events) increase(diagnosticCounts, _tag);
    verify({ ...world, seen });
  } finally {
    await world.sandbox.close();
  }
}

// retry budgets count processor time, not the waits of a busy machine
beforeEach(() => {
  useProcessTime();
});

describe('over real sockets, a subscriber receives', () => {
  it('exactly the ledger, through every fault of the service and of the connections', async () => {
    await check(socketSchedule, numRuns, (schedule, port) =>
      play(schedule, { port }, ({ seen, sandbox, beginExclusive }) => {
        expect(seen.error).toBeUndefined();
        expect(summarize(seen.updates)).toEqual(ledgerAfter(sandbox, beginExclusive));
        const offsets = seen.updates.map(({ offset }) => offset);
        expect(offsets).toEqual(offsets.toSorted((a, b) => a - b));
      }),
    );
  }, 600_000);

  it('exactly the ledger, through every fault of the WebSockets that it follows by', async () => {
    await check(followedSchedule, numRuns / 4, (schedule, port) =>
      play(schedule, { port, isFollowed: true }, ({ seen, sandbox, beginExclusive }) => {
        expect(seen.error).toBeUndefined();
        expect(summarize(seen.updates)).toEqual(ledgerAfter(sandbox, beginExclusive));
        expect(seen.events.some(isOfSocket)).toBe(true);
      }),
    );
  }, 600_000);

  it('the ledger up to a gap by pruning, and after it what the caller chooses', async () => {
    await check(socketSchedule, numRuns / 5, async (schedule, port) => {
      const gaps: Gap[] = [];
      const onGap = (gap: Gap): number[] => {
        gaps.push(gap);
        return gap.error._tag === 'PrunedError' ? [gap.error.earliestOffset ?? -1] : [];
      };
      await play({ ...schedule, prunes: true }, { port, onGap }, ({ seen, sandbox, beginExclusive }) => {
        expect(seen.error).toBeUndefined();
        // the ledger is pruned once
        expect(gaps.length).toBeLessThan(2);
        const [gap] = gaps;
        const earliest = gap?.error._tag === 'PrunedError' ? (gap.error.earliestOffset ?? 0) : 0;
        const isInGap = (update: string): boolean =>
          gap !== undefined && Number.parseInt(update) > gap.cursor && Number.parseInt(update) <= earliest;
        const expected = ledgerAfter(sandbox, beginExclusive).filter((update) => !isInGap(update));
        expect(summarize(seen.updates)).toEqual(expected);
      });
    });
  }, 600_000);

  it('the ledger up to where the feed ends, which happens only with an error that must end it', async () => {
    await check(socketSchedule, numRuns / 5, (schedule, port) =>
      play({ ...schedule, prunes: true, keepsToken: true }, { port }, ({ seen, sandbox, beginExclusive }) => {
        const all = ledgerAfter(sandbox, beginExclusive);
        const received = summarize(seen.updates);
        expect(all.slice(0, received.length)).toEqual(received);
        if (seen.error === undefined) expect(received).toEqual(all);
        else expect(['PrunedError', 'UnauthorizedError']).toContain((seen.error as LedgerError)._tag);
      }),
    );
  }, 600_000);
});
