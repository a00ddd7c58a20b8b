import type { Stop } from './Answers.js';
import { describeError, hasFacts } from './errors.js';
import type { Outcome } from './play.js';

/**
 * The feed ends at an answer that ends it, at once, when it is certainly its turn. At each such answer that it ends with, it
 * has emitted what is before it, and nothing after it.
 */
export function findEndFlaws(outcome: Outcome): readonly string[] {
  const { seen, answers, log } = outcome;
  const { error, endedAt } = seen;
  const due = answers.stops.find((stop, at) => stop.isDue && !isPrunedAgain(stop, answers.stops[at + 1]));
  if (due !== undefined) {
    const rule = `must end with ${JSON.stringify(due.error)} at ${due.atMs}`;
    const isGapFound = log.some(
      (entry) => 'event' in entry && entry.event._tag === 'GapFound' && hasFacts(entry.event.cause, due.error),
    );
    if (due.isGap === true ? !isGapFound : !hasFacts(error, due.error) || !isAtOnce(outcome, due))
      return [`${rule}, and ends with ${describeError(error)} at ${String(endedAt)}`];
  }
  const stops = stopsAt(outcome);
  const flaws = stops.map((stop) => flawOfEnd(outcome, stop));
  return flaws.includes(undefined) ? [] : flaws.slice(0, 1).flatMap((flaw) => flaw ?? []);
}

/** Whether a feed has ended with an answer, or after the few reads that were to confirm the page before it. */
function isAtOnce({ seen: { endedAt = Infinity }, schedule }: Outcome, { atMs }: Stop): boolean {
  return endedAt >= atMs && endedAt <= atMs + 10 * (schedule.latencyMs + schedule.spreadMs);
}

/** Whether a ledger that was found pruned is pruned again before the same page is requested without the last update. */
const isPrunedAgain = ({ isGap, begin }: Stop, next: Stop | undefined): boolean =>
  isGap === true && next?.isGap === true && next.isDue && (next.begin ?? 0) - (begin ?? 0) <= 1;

/** The answers that explain how a feed has ended. */
export const stopsAt = ({ seen, answers }: Outcome): readonly Stop[] =>
  answers.stops.filter(({ error }) => hasFacts(seen.error, error));

/** What contradicts that a feed has ended at an answer: it emits all before it, and nothing after it. */
function flawOfEnd(outcome: Outcome, { error, begin, emitted, delivered, isConfirmation }: Stop): string | undefined {
  if (isConfirmation) return undefined;
  const { last, next } = placeOf(outcome);
  const upTo = error['_tag'] === 'DecodeError' ? Number(error['offset']) - 1 : (begin ?? -1);
  if (next <= upTo) return `ends with ${JSON.stringify(error)} after ${upTo}, and has not emitted ${next}`;
  const isPageEmpty = error['_tag'] === 'DecodeError' || error['_tag'] === 'OrderError';
  const length = outcome.seen.values.filter(({ _tag }) => _tag !== 'OffsetCheckpoint').length;
  return isPageEmpty && length > emitted && last > (outcome.schedule.isDownward ? upTo : Math.max(upTo, delivered))
    ? `ends with ${JSON.stringify(error)} after ${upTo}, and has emitted ${last}`
    : undefined;
}

/** The last update that a feed has emitted since it began or continued, and the next one of the history. */
export function placeOf({ log, begin, bound, growing, ledger }: Outcome): Place {
  const at = log.findLastIndex((entry) => 'jump' in entry);
  const jump = log[at];
  const from = jump !== undefined && 'jump' in jump ? jump.jump : begin;
  const last = log
    .slice(at + 1)
    .flatMap((entry) => ('value' in entry && entry.value._tag !== 'OffsetCheckpoint' ? [entry.value.offset] : []))
    .at(-1);
  const history = jump === undefined ? growing.history : ledger.between(from, bound);
  const rest = history.filter(({ offset }) => offset > (last ?? from) && offset <= bound);
  return { from, last: last ?? from, next: rest[0]?.offset ?? Infinity };
}

/** Where a feed is, which is not in descending order. */
interface Place {
  readonly from: number;
  readonly last: number;
  readonly next: number;
}
