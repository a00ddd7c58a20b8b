import { isDeepStrictEqual } from 'node:util';
import type { Update } from '../../../src/codecs/Update.js';
import { LedgerResetError } from '../../../src/errors/feed.js';
import type { Entry } from '../../helpers/virtualLedger.js';
import { findDiagnosticFlaws } from './diagnosticFlaws.js';
import { findEndFlaws, placeOf } from './ends.js';
import { describeError, hasFacts, hasFailedFor } from './errors.js';
import type { Outcome } from './play.js';
import { deafSocketMs, hasUsableTokens, lastEventMs, outlastsPolls, replacementIn, type Schedule } from './Schedule.js';

/** What is wrong with an outcome by the rules of every schedule; empty where nothing is. */
export const findFlaws = (outcome: Outcome): readonly string[] => [
  ...outcome.violations,
  ...findContentFlaws(outcome),
  ...findOrderFlaws(outcome),
  ...findEndFlaws(outcome),
  ...findDiagnosticFlaws(outcome),
  ...findRateFlaws(outcome),
];

/** What is emitted is the history, from where the feed began or continues: each update once, whole, in order, none left out. */
function findContentFlaws(outcome: Outcome): readonly string[] {
  const { growing, ledger, begin, bound, log, schedule } = outcome;
  const inOrder = (entries: readonly Entry[]): readonly Update[] =>
    growing.updatesOf(schedule.isDownward ? [...entries].reverse() : entries);
  let expected = inOrder(growing.history.filter(({ offset }) => offset > begin && offset <= bound));
  for (const entry of log) {
    // what a restore has taken does not follow a gap
    if ('jump' in entry) expected = inOrder(ledger.between(entry.jump, bound));
    if (!('value' in entry) || entry.value._tag === 'OffsetCheckpoint') continue;
    const [next, ...later] = expected;
    if (!isDeepStrictEqual(entry.value, next))
      return [`emits ${describeUpdate(entry.value)}, and not ${describeUpdate(next)}`];
    expected = later;
  }
  return [];
}

/** Offsets decrease only over a gap, so that no checkpoint is ahead of the updates that it covers. */
function findOrderFlaws({ log, schedule }: Outcome): readonly string[] {
  let last: Update | undefined;
  for (const entry of log) {
    // the feed may go back to its last update, which no update repeats
    if ('jump' in entry || ('event' in entry && entry.event._tag === 'PositionMoved')) last = undefined;
    if (!('value' in entry)) continue;
    const { value } = entry;
    const step = last === undefined ? 1 : (value.offset - last.offset) * (schedule.isDownward ? -1 : 1);
    if (value._tag === 'OffsetCheckpoint' ? step < 0 : step < 0 || (step === 0 && last?._tag === value._tag))
      return [`${describeUpdate(value)} after ${describeUpdate(last)}`];
    last = value;
  }
  return [];
}

/** What a feed that has not ended has not reached, though there have been no faults for long. */
export function findMissing(outcome: Outcome): readonly string[] {
  const { seen, answers, ledger, begin, bound, gaps, schedule, faultCounts } = outcome;
  if (!hasUsableTokens(schedule)) return [];
  // a refused token that comes from a cache is tried again later and later
  if (schedule.token !== null && schedule.token.cachedMs > schedule.token.validMs) return [];
  // these faults hide the ledger end for a minute
  const isEndHidden =
    schedule.profile === 'interface' ||
    ['404 path', '405 path', '501 path', '400 disabled', '403 gateway'].some((name) => faultCounts.has(name));
  // without the ledger end, only polls read, and a poll that outlasts its token is always refused
  if (isEndHidden && !outlastsPolls(schedule)) return [];
  const mustPassEmptyOffsets = bound === Infinity && !isEndHidden && outlastsPolls(schedule);
  const lags = mustPassEmptyOffsets && answers.cursor < ledger.end;
  const isReached = bound <= Math.max(begin, ledger.end);
  if (seen.completed !== isReached && gaps.length === 0)
    return [`${seen.completed ? 'completes' : 'does not complete'} at ${ledger.end} of ${bound}`];
  if (schedule.isDownward && !isReached) return [];
  const downTo = withoutCheckpoints(seen.values).at(-1)?.offset ?? Infinity;
  const missing = schedule.isDownward
    ? ledger.between(begin, Math.min(downTo - 1, bound))
    : ledger.between(placeOf(outcome).last, Math.min(bound, ledger.end));
  if (missing.length > 0) return [`${missing.length} updates are missing, from ${missing[0]?.offset ?? 0} on`];
  return lags ? [`is at ${answers.cursor} of ${ledger.end}, where pruning may overtake it`] : [];
}

/**
 * What is wrong where another ledger took the place of the first: nothing of it may follow what only the first one had,
 * and the feed must say so. Where it has all that the feed had received, it must be taken for the same.
 */
export function findReplacementFlaws(outcome: Outcome): readonly string[] {
  const { seen, ledger, growing, schedule, begin, bound } = outcome;
  const replacement = replacementIn(schedule);
  if (growing.replaced === undefined || replacement === undefined) return ['the ledger is not replaced'];
  const { first, sharedEnd } = growing.replaced;
  const emitted = withoutCheckpoints(seen.values);
  const mustNotice = isReplacementVisible(outcome);
  const { error, completed, endedAt = Infinity } = seen;
  const isReset = hasFacts(error, { _tag: 'LedgerResetError' });
  if (seemsWrongAddress(outcome)) return [];
  // an outage may last as long as the retry budget
  if (!isReset && hasFailedFor(error, schedule.giveUpAfterMs)) return [];
  if (error !== undefined && !isReset) return [`ends with ${describeError(error)}`];
  const isSame = reachedBy(outcome) <= sharedEnd && !replacement.isOtherParticipant;
  if (isReset && isSame) return [`takes the same ledger for another: ${describeError(error)}`];
  const updatesOf = (entries: readonly Entry[]): readonly Update[] =>
    growing.updatesOf(entries.filter(({ offset }) => offset > begin && offset <= bound));
  const findForeign = (expected: readonly Update[]): Update | undefined =>
    emitted.find((update, i) => !isDeepStrictEqual(update, expected[i]));
  const second = updatesOf(ledger.between(begin, bound));
  if (!mustNotice && !isSame) {
    // without an update in the rest, a feed cannot know what the other ledger has there
    if (outcome.answers.cursor > sharedEnd) return [];
    const foreign = findForeign(updatesOf(first)) && findForeign(second);
    return foreign === undefined ? [] : [`${describeUpdate(foreign)} is of neither ledger`];
  }
  const expected = isSame ? second : updatesOf(first);
  const wrong = findForeign(expected);
  if (wrong !== undefined) return [`${describeUpdate(wrong)} is not of the ledger`];
  if (isSame) return emitted.length === expected.length ? [] : [`${emitted.length} of ${expected.length} updates`];
  return isReset || (completed && endedAt <= replacement.atMs) ? [] : ['does not notice another ledger'];
}

/** The last offset that the feed has received of the first ledger in order. It may not have emitted that of its last page. */
function reachedBy({ seen, answers, log, schedule }: Outcome): number {
  const { error } = seen;
  if (!(error instanceof LedgerResetError)) return answers.cursor;
  const replacedAt = replacementIn(schedule)?.atMs ?? Infinity;
  const received = log.flatMap((entry) =>
    'event' in entry && entry.event._tag === 'PageReceived' && entry.event.at <= replacedAt
      ? [entry.event.last ?? 0]
      : [],
  );
  return Math.max(answers.cursor, Math.min(error.cursor, Math.max(...received)));
}

/** Whether the feed has received an update with an ID that only the first ledger had. */
export const isReplacementVisible = ({ seen, growing, emittedBefore, begin }: Outcome): boolean => {
  const last = withoutCheckpoints(seen.values)
    .slice(0, emittedBefore())
    .findLast((update) => 'updateId' in update);
  return (last?.offset ?? begin) > Math.max(begin, growing.replaced?.sharedEnd ?? Infinity);
};

/** The most requests in a time, and how many more are allowed for each answer that had something new. */
interface RateLimit {
  readonly ms: number;
  readonly requests: number;
  readonly perNews: number;
  /** When the limit begins, in milliseconds. */
  readonly fromMs: number;
}

/**
 * In ten seconds, a back-off of at most a second, half of it jitter, sends twenty requests, and perhaps another one after
 * each, for another token or for the ledger end. The first waits are shorter, and the feed has to learn the page limit,
 * the path and how long a poll may last. A healthy service without news is polled at most once a second, and asked for
 * its end now and then. A proof is up to six requests: the ID of the participant, the last update at its offset and by its
 * ID, the ledger end, and the last update of each of two synchronizers. News may cost its page, the page after it, the ledger end, and the repetition of one of them.
 */
const rateLimits = (schedule: Schedule, quietMs: number): readonly RateLimit[] => [
  // a position that is not at its offset is searched, and again if a request of the search fails
  { ms: 1_000, requests: 150, perNews: 4, fromMs: 0 },
  // twenty requests, each with its proof, and two searches; a proof is sent with a second token, too
  { ms: 10_000, requests: schedule.token === null ? 300 : 340, perNews: 4, fromMs: 0 },
  {
    ms: 10_000,
    requests: (schedule.bound === null ? 18 : 28) * requestsPerToken(schedule),
    perNews: 4,
    fromMs: quietMs + 25_000 + deafSocketMs(schedule),
  },
];

/**
 * A request may be sent with a second token. Polls whose tokens always expire, or come from a cache when they have expired, are also
 * retried at the highest rate, and after each of these outages the feed proves that the ledger is the same.
 */
const requestsPerToken = (schedule: Schedule): number => {
  if (schedule.token === null) return 1;
  return outlastsPolls(schedule) && schedule.token.cachedMs <= schedule.token.validMs ? 2 : 6;
};

/**
 * How many more requests a feed may send that reads ahead: a burst, all of which may fail and be repeated in turn, and
 * another burst each time that its pages turn out to be too large.
 */
const burstOf = ({ parallelRanges }: Schedule): number => (parallelRanges ?? 16) - 1;

/** The feed never sends requests in a hot loop. */
const findRateFlaws = ({ requestTimes, answers, schedule, log }: Outcome): readonly string[] =>
  rateLimits(schedule, Math.max(20_000, lastEventMs(schedule))).flatMap(({ ms, requests, perNews, fromMs }) => {
    const times = requestTimes.filter((at) => at >= fromMs);
    const limitTimes = log.flatMap((entry) =>
      'event' in entry && entry.event._tag === 'PageLimitLearned' ? [entry.event.at] : [],
    );
    let first = 0;
    for (const [i, at] of times.entries()) {
      while ((times[first] ?? 0) <= at - ms) first += 1;
      const count = i - first + 1;
      if (count <= requests) continue;
      const countIn = (moments: readonly number[]): number =>
        moments.filter((time) => time > at - ms - 1 && time <= at).length;
      const news = countIn(answers.newsAt);
      const advances = countIn(answers.advancedAt);
      // one that proves that there is no more, or one ahead; in turn, the next one after a narrow range without an update
      const forAdvances = schedule.parallelRanges === 1 ? Math.max(0, advances - news) : advances;
      const bursts = 1 + countIn(limitTimes);
      if (count > requests + bursts * burstOf(schedule) + perNews * news + forAdvances)
        return [`${count} requests in ${ms} ms up to ${at}, with ${news} news in ${advances} answers`];
    }
    return [];
  });

const withoutCheckpoints = (updates: readonly Update[]): readonly Update[] =>
  updates.filter(({ _tag }) => _tag !== 'OffsetCheckpoint');

/** Whether a feed ends because an address that has served nothing does not know the path, and may be a wrong one. */
export const seemsWrongAddress = ({ seen, log }: Outcome): boolean =>
  hasFacts(seen.error, { _tag: 'ApiError', status: 501 }) &&
  log.every((entry) => !('value' in entry) && !('event' in entry && entry.event._tag === 'PageReceived'));

const describeUpdate = (update: Update | undefined): string =>
  update === undefined ? 'nothing' : `${update._tag} at ${update.offset}`;
