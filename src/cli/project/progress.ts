import type { ProcessStatus } from '../../process/index.js';
import { joinParts, type Pace, rateOf, rateText, type Sample, type Samples, troubleText } from '../progress.js';
import type { Paint } from '../terminal.js';
import { groupDigits } from '../text.js';

/** How far a projection is. Only the functions that run it change it. */
export interface ProjectProgress {
  stage: 'starting' | 'running' | 'caughtUp';
  status?: ProcessStatus;
  /** How many contracts of the snapshot were received, and how many of them were written. */
  received: number;
  loaded: number;
  isLoading: boolean;
  /** Why requests to the ledger, or to the database, are retried, in a few words; absent while they succeed. */
  ledgerTrouble?: string | undefined;
  databaseTrouble?: string | undefined;
}

const troubleOf = ({ ledgerTrouble, databaseTrouble }: ProjectProgress): string | undefined =>
  databaseTrouble ?? ledgerTrouble;

/** How old a ledger end may be that is shown, in milliseconds: three times as old as it gets. */
const maxAgeMs = 15_000;

/** The ledger end and the lag, as far as they are known now. */
function lagOf({ status, ledgerTrouble, at }: Sample<ProjectProgress>): {
  readonly end?: number;
  readonly lag?: number;
} {
  const { ledgerEnd, offset, seenAt = 0 } = status ?? {};
  if (ledgerEnd === undefined || ledgerTrouble !== undefined || at - seenAt > maxAgeMs) return {};
  // the offset may be later than the last reading of the ledger end
  const end = Math.max(ledgerEnd, offset ?? 0);
  return { end, ...(offset !== undefined && { lag: end - offset }) };
}

/** Formats the status line: `12 345 / 12 345  ·  lag 0  ·  5/s  ·  caught up`, and before it `loading: …`. */
export function formatProjectProgress(samples: Samples<ProjectProgress>, _: Pace, paint: Paint): string {
  const last = samples.at(-1) ?? samples[0];
  const retrying = troubleText(troubleOf(last), paint);
  if (last.isLoading) {
    const counts = `loading: ${groupDigits(last.received)} received, ${groupDigits(last.loaded)} written`;
    return joinParts(
      counts,
      rateText(
        rateOf(samples, ({ received, loaded }) => received + loaded),
        paint,
      ),
      retrying,
    );
  }
  const { end, lag } = lagOf(last);
  return joinParts(
    `${groupDigits(last.status?.offset)} / ${groupDigits(end)}`,
    `lag ${groupDigits(lag)}`,
    rateText(rateOf(samples, handledBy), paint),
    retrying || stateText(last, paint),
  );
}

const handledBy = ({ status }: ProjectProgress): number => status?.handled ?? 0;

function stateText({ status }: ProjectProgress, paint: Paint): string {
  if (status?.state === 'caughtUp') return paint('green', 'caught up');
  return status?.state === 'catchingUp' ? paint('yellow', 'catching up') : paint('dim', 'waiting');
}

/**
 * A line of metrics for logs: `2026-11-23T10:00:00.000Z state=caughtUp offset=1471 end=1471 lag=0 handled=340 rate=4.9`. What is
 * unknown is left out.
 *
 * @param before - the progress at the last line
 */
export function metricsLine(before: Sample<ProjectProgress> | undefined, now: Sample<ProjectProgress>): string {
  const { status, isLoading, received, loaded, at } = now;
  const trouble = troubleOf(now);
  const state = isLoading ? 'loading' : (status?.state ?? 'waiting');
  const fields: Readonly<Record<string, string | number | undefined>> = {
    state: trouble === undefined ? state : 'retrying',
    offset: status?.offset,
    ...lagOf(now),
    handled: handledBy(now),
    rate: before && rateOf([before, now], handledBy)?.toFixed(1),
    ...(isLoading && { received, loaded }),
    cause: trouble && JSON.stringify(trouble),
  };
  const texts = Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]));
  return `${new Date(at).toISOString()} ${texts.join(' ')}`;
}
