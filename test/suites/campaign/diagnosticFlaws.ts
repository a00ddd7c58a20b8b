import type { Diagnostic } from '../../../src/diagnostics/Diagnostic.js';
import { PrunedError } from '../../../src/errors/feed.js';
import type { Entry } from '../../helpers/virtualLedger.js';
import type { LogEntry, Outcome } from './play.js';

/** Where the diagnostics of an outcome differ from what happened. */
export const findDiagnosticFlaws = (outcome: Outcome): readonly string[] => [
  ...findFrameFlaws(outcome),
  ...(outcome.schedule.isDownward ? findPageFlaws : findPageFlawsAhead)(outcome.log),
  ...findPhaseFlaws(outcome),
  ...findCursorFlaws(outcome),
];

const diagnosticsIn = (log: readonly LogEntry[]): readonly Diagnostic[] =>
  log.flatMap((entry) => ('event' in entry ? [entry.event] : []));

/** FeedStarted is the first and FeedEnded the last, once, with the end that the subscriber received. */
function findFrameFlaws({ log, seen }: Outcome): readonly string[] {
  const events = diagnosticsIn(log);
  const ends = events.filter(({ _tag }) => _tag === 'FeedEnded');
  const last = events.at(-1);
  if (events[0]?._tag !== 'FeedStarted') return ['FeedStarted is not the first diagnostic'];
  if (ends.length !== 1 || last?._tag !== 'FeedEnded')
    return [`FeedEnded is reported ${ends.length} times, or is not the last`];
  const failure = seen.error === undefined ? 'unsubscribed' : 'failed';
  const how = seen.completed ? 'completed' : failure;
  if (last.how !== how || last.error !== seen.error) return [`it ends as ${how}, but FeedEnded reports ${last.how}`];
  return [];
}

/** A feed in descending order emits exactly the range of the page that it reported last. */
function findPageFlaws(log: readonly LogEntry[]): readonly string[] {
  let page: { readonly first?: number; readonly last?: number } | undefined;
  let emitted: number[] = [];
  const flaws: string[] = [];
  const close = (): void => {
    if (page !== undefined && (emitted[0] !== page.first || emitted.at(-1) !== page.last))
      flaws.push(
        `a page of ${String(page.first)} to ${String(page.last)} is reported, but [${emitted.join()}] is emitted`,
      );
    page = undefined;
    emitted = [];
  };
  for (const entry of log) {
    if ('value' in entry) {
      if (page === undefined) flaws.push(`${entry.value.offset} is emitted without a page`);
      emitted.push(entry.value.offset);
    } else if ('event' in entry && ['PageReceived', 'PollSent', 'FeedEnded'].includes(entry.event._tag)) {
      close();
      page = entry.event._tag === 'PageReceived' ? entry.event : undefined;
    }
  }
  return flaws;
}

/**
 * A feed emits the reported pages one after the other. It may report them in another order if it reads ahead, and before it
 * has proven that the ledger is the same.
 */
function findPageFlawsAhead(log: readonly LogEntry[]): readonly string[] {
  const pages: { readonly first: number; readonly last: number }[] = [];
  const flaws: string[] = [];
  let last = -Infinity;
  let pageEnd = -Infinity;
  const close = (): void => {
    if (last < pageEnd) flaws.push(`a page up to ${pageEnd} is emitted only up to ${last}`);
  };
  for (const entry of log) {
    if ('event' in entry) {
      const { event } = entry;
      if (event._tag === 'FeedEnded') close();
      if (event._tag === 'PositionMoved') {
        pages.length = 0;
        last = -Infinity;
        pageEnd = -Infinity;
      }
      if (event._tag !== 'PageReceived' || event.first === undefined) continue;
      pages.push({ first: event.first, last: event.last ?? event.first });
    } else if ('jump' in entry) {
      close();
      pages.length = 0;
      last = pageEnd = entry.jump;
    } else {
      const { offset } = entry.value;
      if (offset > pageEnd) {
        close();
        // the first element of a page may be a checkpoint at the end of the page before
        const next = pages.findLastIndex(
          (page) => page.first === offset || (page.first === last && page.last >= offset),
        );
        if (next < 0) flaws.push(`${offset} is emitted without a page`);
        pageEnd = pages.splice(next, 1)[0]?.last ?? offset;
      }
      last = offset;
    }
  }
  return flaws;
}

/** CaughtUp and FellBehind alternate; retries stay within their budget; every gap is reported. */
function findPhaseFlaws({ log, schedule, seen }: Outcome): readonly string[] {
  const flaws: string[] = [];
  let hasCaughtUp = false;
  for (const entry of log) {
    if ('jump' in entry) hasCaughtUp = false;
    if (!('event' in entry)) continue;
    const { event } = entry;
    if (event._tag === 'CaughtUp' || event._tag === 'FellBehind') {
      const isCaughtUp = event._tag === 'CaughtUp';
      if (isCaughtUp === hasCaughtUp) flaws.push(`${event._tag} twice`);
      hasCaughtUp = isCaughtUp;
    }
    // a sum of random delays is not exact
    if (event._tag === 'RetryScheduled' && event.spentMs > schedule.giveUpAfterMs + 1)
      flaws.push(`${event.spentMs} of ${schedule.giveUpAfterMs} ms are spent`);
  }
  const gaps = diagnosticsIn(log).filter(({ _tag }) => _tag === 'GapFound').length;
  const expected = log.filter((entry) => 'jump' in entry).length + (isGap(seen.error) ? 1 : 0);
  if (gaps !== expected) flaws.push(`${gaps} gaps are reported, not ${expected}`);
  return flaws;
}

/**
 * A cursor that is reported, and a checkpoint that is emitted, is after all that was emitted, and before all that was not. A
 * gap is after it.
 */
function findCursorFlaws({ log, growing, ledger, begin, bound, schedule }: Outcome): readonly string[] {
  const sign = schedule.isDownward ? -1 : 1;
  const start = schedule.isDownward ? bound + 1 : begin;
  let from: Reached = { history: growing.history, last: start, cursor: start };
  let before = from;
  const flawAt = (at: Reached, name: string, cursor: number): readonly string[] => {
    const { history, last } = at;
    if ((cursor - at.cursor) * sign < 0) return [`${name} is at ${cursor}, after ${at.cursor}`];
    const passed = history.find(
      ({ offset }) => offset > begin && offset <= bound && (offset - last) * sign > 0 && (cursor - offset) * sign >= 0,
    );
    return passed === undefined ? [] : [`${name} is at ${cursor}, and ${passed.offset} is not emitted`];
  };
  return log.flatMap((entry) => {
    if ('jump' in entry) {
      before = from;
      from = { history: ledger.between(entry.jump, bound), last: entry.jump, cursor: entry.jump };
      return [];
    }
    if ('value' in entry) {
      const { _tag, offset } = entry.value;
      const flaws = _tag === 'OffsetCheckpoint' ? flawAt(from, _tag, offset) : [];
      from = { ...from, cursor: offset, ...(_tag !== 'OffsetCheckpoint' && { last: offset }) };
      return flaws;
    }
    const { event } = entry;
    if (event._tag === 'CaughtUp' || event._tag === 'FellBehind') return flawAt(from, event._tag, event.cursor);
    if (event._tag === 'PositionMoved') from = { ...from, cursor: event.to.offset };
    if (event._tag !== 'GapFound' || !(event.cause instanceof PrunedError)) return [];
    const isBefore = event.cursor < (event.cause.earliestOffset ?? 0);
    return [
      ...flawAt(event.resumesFrom === undefined ? from : before, event._tag, event.cursor),
      ...(isBefore ? [] : [`a gap at ${event.cursor}, which is not pruned`]),
    ];
  });
}

/** Up to where a feed has emitted updates, and where its cursor is, in a history. */
interface Reached {
  readonly history: readonly Entry[];
  readonly last: number;
  readonly cursor: number;
}

const isGap = (error: unknown): boolean =>
  error instanceof Error && ['PrunedError', 'LedgerResetError'].includes(error.name);
