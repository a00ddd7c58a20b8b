import { isDeepStrictEqual } from 'node:util';
import type { Update } from '../../../src/codecs/Update.js';
import { LedgerResetError } from '../../../src/errors/feed.js';
import type { Entry } from '../../helpers/virtualLedger.js';
import { findDiagnosticFlaws } from './diagnosticFlaws.js';
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

/** The feed emits exactly what was delivered for the first time: each update once, whole, in order. */
function findContentFlaws({ seen, audit, ledger, schedule }: Outcome): readonly string[] {
  const updates = withoutCheckpoints(seen.values);
  // what a restore takes away while it waits for its proof is not emitted
  const rest = audit.expected.slice(updates.length);
  const isLost =
    schedule.changes.some(({ kind }) => kind === 'restore') && rest.every(({ offset }) => offset > ledger.end);
  const count = isLost ? updates.length : Math.max(updates.length, audit.expected.length);
  for (let i = 0; i < count; i += 1)
    if (!isDeepStrictEqual(updates[i], audit.expected[i]))
      return [`update ${i} is ${describeUpdate(updates[i])}, not ${describeUpdate(audit.expected[i])}`];
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

/** The feed ends where it is forced to, with the right error, at once, and nowhere else. */
function findEndFlaws({ seen, audit, gaps }: Outcome): readonly string[] {
  const { error, completed, endedAt } = seen;
  const forced = audit.end;
  if (forced === undefined) return [];
  const rule = `must end with ${JSON.stringify(forced.error)} at ${forced.atMs}`;
  if (completed || error === undefined) return [`${rule}, but does not`];
  if (!hasFacts(error, forced.error)) return [`${rule}, but ends with ${describeError(error)}`];
  if (endedAt !== forced.atMs && gaps.length === 0) return [`${rule}, but ends at ${String(endedAt)}`];
  return [];
}

/** What a feed that was not forced to end has not reached, though there have been no faults for long. */
export function findMissing(outcome: Outcome): readonly string[] {
  const { seen, audit, ledger, begin, bound, gaps, schedule, faultCounts } = outcome;
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
  const lags = mustPassEmptyOffsets && audit.cursor < ledger.end;
  const isReached = bound <= Math.max(begin, ledger.end);
  if (seen.completed !== isReached && gaps.length === 0)
    return [`${seen.completed ? 'completes' : 'does not complete'} at ${ledger.end} of ${bound}`];
  if (schedule.isDownward && !isReached) return [];
  const missing = schedule.isDownward
    ? ledger.between(begin, audit.cursor - 1)
    : ledger.between(audit.cursor, Math.min(bound, ledger.end));
  if (missing.length > 0) return [`${missing.length} updates are missing, from ${missing[0]?.offset ?? 0} on`];
  if (lags) return [`is at ${audit.cursor} of ${ledger.end}, where pruning may overtake it`];
  if (gaps.length > 0 || schedule.changes.some(({ kind }) => kind === 'restore')) return [];
  // without the model: everything that the ledger has, and no more
  const all = ledger.between(begin, bound).length;
  const updates = withoutCheckpoints(seen.values).length;
  return updates === all ? [] : [`${updates} of ${all} updates were emitted`];
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
  if (error !== undefined && !isReset) return [`ends with ${describeError(error)}`];
  const isSame = reachedBy(outcome) <= sharedEnd && !replacement.isOtherParticipant;
  if (isReset && isSame) return [`takes the same ledger for another: ${describeError(error)}`];
  const updatesOf = (entries: readonly Entry[]): readonly Update[] =>
    entries.filter(({ offset }) => offset > begin && offset <= bound).flatMap((entry) => growing.updateOf(entry) ?? []);
  const findForeign = (expected: readonly Update[]): Update | undefined =>
    emitted.find((update, i) => !isDeepStrictEqual(update, expected[i]));
  const second = updatesOf(ledger.between(begin, bound));
  if (!mustNotice && !isSame) {
    // without an update in the rest, a feed cannot know what the other ledger has there
    if (outcome.audit.cursor > sharedEnd) return [];
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
function reachedBy({ seen, audit, log, schedule }: Outcome): number {
  const { error } = seen;
  if (!(error instanceof LedgerResetError)) return audit.cursor;
  const replacedAt = replacementIn(schedule)?.atMs ?? Infinity;
  const received = log.flatMap((entry) =>
    'event' in entry && entry.event._tag === 'PageReceived' && entry.event.at <= replacedAt
      ? [entry.event.last ?? 0]
      : [],
  );
  return Math.max(audit.cursor, Math.min(error.cursor, Math.max(...received)));
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
 * A request may be sent with a second token. Polls whose tokens always expire are also retried at the highest rate, and
 * after each of these outages the feed proves that the ledger is the same.
 */
const requestsPerToken = (schedule: Schedule): number => {
  if (schedule.token === null) return 1;
  return outlastsPolls(schedule) ? 2 : 6;
};

/**
 * How many more requests a feed may send that reads ahead: a burst, all of which may fail and be repeated in turn, and
 * another burst each time that its pages turn out to be too large.
 */
const burstOf = ({ parallelRanges }: Schedule): number => (parallelRanges ?? 16) - 1;

/** The feed never sends requests in a hot loop. */
const findRateFlaws = ({ requestTimes, audit, schedule, log }: Outcome): readonly string[] =>
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
      const news = countIn(audit.newsAt);
      const advances = countIn(audit.advancedAt);
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

/** Whether an error has these fields. */
export const hasFacts = (error: unknown, facts: Readonly<Record<string, unknown>>): boolean =>
  typeof error === 'object' &&
  error !== null &&
  Object.entries(facts).every(([key, value]) => Reflect.get(error, key) === value);

/** An error in one line. */
export const describeError = (error: unknown): string =>
  error instanceof Error ? `${error.name}: ${error.message.replaceAll('\n', ', ')}` : 'nothing';

const describeUpdate = (update: Update | undefined): string =>
  update === undefined ? 'nothing' : `${update._tag} at ${update.offset}`;
