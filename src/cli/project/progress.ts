import type { Offset } from '../../codecs/scalars.js';
import type { ProcessStatus } from '../../process/ProcessStatus.js';
import type { Pace, Sample } from '../progress.js';
import type { Paint } from '../terminal.js';
import { groupDigits } from '../text.js';

/** How far a projection is. Only the functions that run it change it. */
export interface ProjectProgress {
  stage: 'starting' | 'running' | 'caughtUp';
  status: ProcessStatus | undefined;
  /** How many contracts of the snapshot were received, and how many of them were written. */
  received: number;
  loaded: number;
  isLoading: boolean;
  /** Why requests to the ledger, or to the database, are retried, in a few words; absent while they succeed. */
  ledgerTrouble: string | undefined;
  databaseTrouble: string | undefined;
}

/** The progress at the beginning. */
export const startProgress = (): ProjectProgress => ({
  stage: 'starting',
  status: undefined,
  received: 0,
  loaded: 0,
  isLoading: false,
  ledgerTrouble: undefined,
  databaseTrouble: undefined,
});

const troubleOf = ({ ledgerTrouble, databaseTrouble }: ProjectProgress): string | undefined =>
  databaseTrouble ?? ledgerTrouble;

/** How old a ledger end may be that is shown, in milliseconds: three times as old as it gets. */
const maxAgeMs = 15_000;

/** The ledger end and the lag, as far as they are known now. */
function lagOf(progress: ProjectProgress, now: number): { readonly end?: Offset; readonly lag?: number } {
  const { ledgerEnd, offset, seenAt = 0 } = progress.status ?? {};
  if (ledgerEnd === undefined || progress.ledgerTrouble !== undefined || now - seenAt > maxAgeMs) return {};
  // the offset may be later than the last reading of the ledger end
  const end = Math.max(ledgerEnd, offset ?? 0);
  return { end, ...(offset !== undefined && { lag: end - offset }) };
}

/** Formats the status line: `12 345 / 12 345  ·  lag 0  ·  5/s  ·  caught up`, and before it `loading: …`. */
export function formatProjectProgress(samples: readonly Sample<ProjectProgress>[], _: Pace, paint: Paint): string {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined) return '';
  const trouble = troubleOf(last);
  const seconds = (last.at - first.at) / 1_000;
  const rateOf = (read: (progress: ProjectProgress) => number): string =>
    paint('dim', `${groupDigits(seconds > 0 ? Math.round((read(last) - read(first)) / seconds) : undefined)}/s`);
  const state = trouble === undefined ? stateOf(last, paint) : paint('red', `retrying: ${trouble}`);
  if (last.isLoading) {
    const counts = `loading: ${groupDigits(last.received)} received, ${groupDigits(last.loaded)} written`;
    return [
      counts,
      rateOf(({ received, loaded }) => received + loaded),
      ...(trouble === undefined ? [] : [state]),
    ].join('  ·  ');
  }
  const { end, lag } = lagOf(last, last.at);
  const position = `${groupDigits(last.status?.offset)} / ${groupDigits(end)}  ·  lag ${groupDigits(lag)}`;
  return [position, rateOf(({ status }) => status?.handled ?? 0), state].join('  ·  ');
}

function stateOf({ status }: ProjectProgress, paint: Paint): string {
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
  const { end, lag } = lagOf(now, at);
  const handled = status?.handled ?? 0;
  const seconds = before === undefined ? 0 : (at - before.at) / 1_000;
  const fields: Readonly<Record<string, string | number | undefined>> = {
    state: trouble === undefined ? stateName(now) : 'retrying',
    offset: status?.offset,
    end,
    lag,
    handled,
    rate: seconds > 0 ? ((handled - (before?.status?.handled ?? 0)) / seconds).toFixed(1) : undefined,
    ...(isLoading && { received, loaded }),
    cause: trouble === undefined ? undefined : JSON.stringify(trouble),
  };
  const texts = Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]));
  return `${new Date(at).toISOString()} ${texts.join(' ')}`;
}

const stateName = ({ isLoading, status }: ProjectProgress): string =>
  isLoading ? 'loading' : (status?.state ?? 'waiting');
