import type { Diagnostic } from '../../../src/diagnostics/Diagnostic.js';
import type { Outcome, Told } from './play.js';

/** What the ledger's events tell is what happened. */
export const flawsOfTold = (outcome: Outcome): readonly string[] => [
  ...flawsOfFrame(outcome),
  ...(readsAhead(outcome) ? flawsOfPagesAhead : flawsOfPages)(outcome.log),
  ...flawsOfTurns(outcome),
];

const readsAhead = ({ schedule }: Outcome): boolean => !schedule.isDownward && schedule.parallelRanges !== 1;

const eventsIn = (log: readonly Told[]): readonly Diagnostic[] =>
  log.flatMap((told) => ('event' in told ? [told.event] : []));

/** It starts once and ends once, last of all, and the end is the one that the subscriber saw. */
function flawsOfFrame({ log, seen }: Outcome): readonly string[] {
  const events = eventsIn(log);
  const ends = events.filter(({ _tag }) => _tag === 'FeedEnded');
  const last = events.at(-1);
  if (events[0]?._tag !== 'FeedStarted') return ['FeedStarted is not the first that is told'];
  if (ends.length !== 1 || last?._tag !== 'FeedEnded')
    return [`FeedEnded is told ${ends.length} times, or not at last`];
  const failed = seen.error === undefined ? 'unsubscribed' : 'failed';
  const how = seen.completed ? 'completed' : failed;
  if (last.how !== how || last.error !== seen.error) return [`it ends as ${how}, but ${last.how} is told`];
  return [];
}

/** What a page is said to hold is emitted next. */
function flawsOfPages(log: readonly Told[]): readonly string[] {
  let page: { readonly first?: number; readonly last?: number } | undefined;
  let emitted: number[] = [];
  const flaws: string[] = [];
  const close = (): void => {
    if (page !== undefined && (emitted[0] !== page.first || emitted.at(-1) !== page.last))
      flaws.push(`a page of ${String(page.first)} to ${String(page.last)} is told, but [${emitted.join()}] is emitted`);
    page = undefined;
    emitted = [];
  };
  for (const told of log) {
    if ('value' in told) {
      if (page === undefined) flaws.push(`${told.value.offset} is emitted without a page`);
      emitted.push(told.value.offset);
    } else if ('event' in told && ['PageReceived', 'PollSent', 'FeedEnded'].includes(told.event._tag)) {
      close();
      page = told.event._tag === 'PageReceived' ? told.event : undefined;
    }
  }
  return flaws;
}

/** What is emitted are pages that were told, each whole before the next, though they need not be told in order. */
function flawsOfPagesAhead(log: readonly Told[]): readonly string[] {
  const told: { readonly first: number; readonly last: number }[] = [];
  const flaws: string[] = [];
  let last = -Infinity;
  let rest = -Infinity;
  const close = (): void => {
    if (last < rest) flaws.push(`of a page up to ${rest} all behind ${last} is not emitted`);
  };
  for (const entry of log) {
    if ('event' in entry) {
      const { event } = entry;
      if (event._tag === 'FeedEnded') close();
      if (event._tag !== 'PageReceived' || event.first === undefined) continue;
      told.push({ first: event.first, last: event.last ?? event.first });
    } else if ('jump' in entry) {
      close();
      told.length = 0;
      last = rest = entry.jump;
    } else {
      const { offset } = entry.value;
      if (offset > rest) {
        close();
        // the first of a page may be a checkpoint where the one before it ended
        const next = told.findLastIndex(
          (page) => page.first === offset || (page.first === last && page.last >= offset),
        );
        if (next < 0) flaws.push(`${offset} is emitted without a page`);
        rest = told.splice(next, 1)[0]?.last ?? offset;
      }
      last = offset;
    }
  }
  return flaws;
}

/** It catches up and falls behind in turn, and stands where the model stands. */
function flawsOfTurns({ log, schedule, seen }: Outcome): readonly string[] {
  const flaws: string[] = [];
  let hasCaughtUp = false;
  for (const told of log) {
    if ('jump' in told) hasCaughtUp = false;
    if (!('event' in told)) continue;
    const { event, stands } = told;
    if (event._tag === 'CaughtUp' || event._tag === 'FellBehind') {
      const now = event._tag === 'CaughtUp';
      if (now === hasCaughtUp) flaws.push(`${event._tag} twice`);
      hasCaughtUp = now;
      if (!stands.includes(event.cursor))
        flaws.push(`${event._tag} at ${event.cursor}, but the model is at ${stands.join(' or ')}`);
    }
    if (event._tag === 'RetryScheduled' && event.spentMs > schedule.giveUpAfterMs)
      flaws.push(`${event.spentMs} of ${schedule.giveUpAfterMs} ms are spent`);
  }
  const gaps = eventsIn(log).filter(({ _tag }) => _tag === 'GapFound').length;
  const expected = log.filter((told) => 'jump' in told).length + (isGap(seen.error) ? 1 : 0);
  if (gaps !== expected) flaws.push(`${gaps} gaps are told, not ${expected}`);
  return flaws;
}

const isGap = (error: unknown): boolean =>
  error instanceof Error && ['PrunedError', 'LedgerResetError'].includes(error.name);
