import { deafFor } from './deafFor.js';
import { calmAt } from './grow.js';
import type { Outcome } from './play.js';
import type { Schedule } from './Schedule.js';

/** The most requests in a time, and how many more for each answer that brought something new. */
interface Bound {
  readonly ms: number;
  readonly requests: number;
  readonly perNews: number;
  /** From when on, in milliseconds. */
  readonly fromMs: number;
}

/**
 * In ten seconds a back-off of up to a second, which waits for half of one, asks twenty times, and each time perhaps once
 * more, with another token or for the ledger end; the first waits are shorter, and page limit, path and patience have to be found out. A service
 * that is well and brings nothing is polled at most once a second, and asked for its end now and then. Something new may
 * cost its page, the one behind it, the ledger end, and one of them once again.
 */
const boundsOf = ({ bound, token, pushes }: Schedule, calm: number): readonly Bound[] => [
  { ms: 1_000, requests: 25, perNews: 4, fromMs: 0 },
  { ms: 10_000, requests: 60, perNews: 4, fromMs: 0 },
  {
    ms: 10_000,
    requests: (bound === null ? 14 : 24) * (token === null ? 1 : 2),
    perNews: 4,
    fromMs: calm + 25_000 + deafFor({ pushes }),
  },
];

/**
 * How much more a feed may ask that reads ahead: a burst, of which all may fail and be asked for again in its turn, another
 * each time that all of it turns out to ask for too large pages, and for each answer that leads on, one that proves that
 * there is no more, or one ahead of it.
 */
const bonusOf = ({ parallelRanges }: Schedule): { readonly burst: number; readonly perGround: number } =>
  parallelRanges === 1 ? { burst: 0, perGround: 0 } : { burst: (parallelRanges ?? 16) - 1, perGround: 1 };

/** No state asks in a hot loop. */
export const flawsOfPace = ({ askedAt, audit, schedule, log }: Outcome): readonly string[] =>
  boundsOf(schedule, Math.max(20_000, calmAt(schedule))).flatMap(({ ms, requests, perNews, fromMs }) => {
    const { burst, perGround } = bonusOf(schedule);
    const asked = askedAt.filter((at) => at >= fromMs);
    const taughtAt = log.flatMap((told) =>
      'event' in told && told.event._tag === 'PageLimitLearned' ? [told.event.at] : [],
    );
    let first = 0;
    for (const [i, at] of asked.entries()) {
      while ((asked[first] ?? 0) <= at - ms) first += 1;
      const count = i - first + 1;
      if (count <= requests) continue;
      const within = (times: readonly number[]): number =>
        times.filter((time) => time > at - ms - 1 && time <= at).length;
      const news = within(audit.newsAt);
      const ground = within(audit.groundAt);
      const bursts = 1 + within(taughtAt);
      if (count > requests + bursts * burst + perNews * news + perGround * ground)
        return [`${count} requests in ${ms} ms up to ${at}, with ${news} news in ${ground} answers`];
    }
    return [];
  });
