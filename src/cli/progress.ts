import { finalize, ignoreElements, type Observable, scan, startWith, tap, timer, withLatestFrom } from 'rxjs';
import { cut, escapeJson } from '../errors/escapeText.js';
import type { Diagnostic, Ledger, LedgerError } from '../index.js';
import type { ProcessStatus } from '../process/index.js';
import { addressOf } from './Connection.js';
import type { Session } from './Session.js';
import { escapeText, groupDigits, type Paint, type StatusLine } from './terminal.js';
import { errorLine, type Output } from './World.js';

/** The state of a feed by its diagnostics. */
export interface Pace {
  readonly hasCaughtUp: boolean;
  /** Whether the ledger pushes new updates. */
  readonly isPushed?: boolean;
  /** Why the feed retries, in a word or two. */
  readonly trouble?: string;
}

/** A value at a time, in milliseconds since 1970. */
export type Sample<P> = P & { readonly at: number };

/** What a status line shows of a progress `P`. */
interface ProgressView<P> {
  /** Returns the current progress. */
  readonly read: () => P;
  /** How long the rate is measured, in seconds. */
  readonly seconds?: number;
  /** Formats the last samples, the oldest one first. They begin again when the feed has caught up, and when it falls behind. */
  readonly format: (samples: Samples<P>, pace: Pace, paint: Paint) => string;
}

/** The last samples, the oldest one first. */
export type Samples<P> = readonly [Sample<P>, ...Sample<P>[]];

/** Shows the progress of a command while subscribed: in a status line, or else by a line for each outage. */
export const showSession = <P extends object>(session: Session, view: ProgressView<P>): Observable<unknown> =>
  session.status.isVisible
    ? showProgress(session.ledger, session.status, view)
    : retryNotices(session.ledger, addressOf(session.connection), session.world.stderr);

/** How many events of the last samples there were in a second; `undefined` before there are two samples. */
export function rateOf<P>(samples: Samples<P>, count: (progress: P) => number): number | undefined {
  const [first, last = first] = [samples[0], samples.at(-1)];
  const seconds = (last.at - first.at) / 1_000;
  return seconds > 0 ? (count(last) - count(first)) / seconds : undefined;
}

/** Joins the parts of a status line: `12 345 / 67 890  ·  1 200/s  ·  catching up`. */
export const joinParts = (...parts: readonly string[]): string => parts.filter((part) => part !== '').join('  ·  ');

/** A rate in a status line. */
export const rateText = (rate: number | undefined, paint: Paint): string =>
  paint('dim', `${groupDigits(rate === undefined ? undefined : Math.round(rate))}/s`);

/** Why a command waits, in a status line; empty while requests succeed. */
export const troubleText = (trouble: string | undefined, paint: Paint): string =>
  trouble === undefined ? '' : paint('red', `retrying: ${trouble}`);

const intervalMs = 250;

const initialPace: Pace = { hasCaughtUp: false };

/** Shows the progress of a command in a status line while subscribed. */
export function showProgress<P extends object>(
  { diagnostics$ }: Pick<Ledger, 'diagnostics$'>,
  status: StatusLine,
  { read, seconds = 2, format }: ProgressView<P>,
): Observable<unknown> {
  const pace$ = diagnostics$.pipe(scan(nextPace, initialPace), startWith(initialPace));
  const maxSamples = (seconds * 1_000) / intervalMs + 1;
  let recent: { readonly samples: readonly Sample<P>[]; readonly pace: Pace } = { samples: [], pace: initialPace };
  return timer(0, intervalMs).pipe(
    withLatestFrom(pace$),
    tap(([, pace]) => {
      const sample = { ...read(), at: Date.now() };
      // updates of the past are read faster than new ones occur: no rate is computed from both
      const before = pace.hasCaughtUp === recent.pace.hasCaughtUp ? recent.samples : [];
      const [first = sample, ...others] = [...before, sample].slice(-maxSamples);
      recent = { samples: [first, ...others], pace };
      status.show((paint) => format([first, ...others], pace, paint));
    }),
    finalize(() => {
      status.clear();
    }),
  );
}

/** For `scan`. */
function nextPace(pace: Pace, diagnostic: Diagnostic): Pace {
  switch (diagnostic._tag) {
    case 'FeedStarted':
    case 'FellBehind':
      return { hasCaughtUp: false };
    case 'CaughtUp':
      return { hasCaughtUp: true };
    case 'RetryScheduled':
      return { ...pace, trouble: shortReason(diagnostic.cause) };
    case 'PageReceived':
      return { hasCaughtUp: pace.hasCaughtUp, ...(pace.isPushed === true && { isPushed: true }) };
    case 'SocketOpened':
      return { hasCaughtUp: true, isPushed: true };
    case 'SocketClosed':
      return { hasCaughtUp: pace.hasCaughtUp };
    default:
      return pace;
  }
}

/** The codes of fetch and of the system for a connection that breaks during a request. */
const brokenCodes: readonly string[] = ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'];

/** The reason of a retry, in a few words, safe for a terminal. */
export const shortReason = (error: LedgerError): string => escapeText(cut(reasonOf(error), maxReasonLength));

const maxReasonLength = 200;

function reasonOf(error: LedgerError): string {
  if (error._tag === 'ApiError') return error.code ?? String(error.status);
  if (error._tag === 'ConnectionError')
    return brokenCodes.includes(error.code ?? '') ? 'the connection broke' : (error.code ?? error.reason);
  if (error._tag === 'LedgerResetError')
    return error.reason === 'anotherLedger' ? 'another ledger' : 'the ledger ends before the cursor';
  return error._tag === 'RequestTimeoutError' ? 'timeout' : error.name;
}

/**
 * Reports to stderr when the requests to a ledger begin to fail, and when they succeed again, while subscribed: once for each
 * outage and each cause of it. For commands without a status line.
 *
 * @param address - the host and port of the ledger
 *
 * @internal
 */
export const retryNotices = (
  { diagnostics$ }: Pick<Ledger, 'diagnostics$'>,
  address: string,
  stderr: Output,
): Observable<never> =>
  diagnostics$.pipe(
    scan((reasons: readonly string[], diagnostic) => {
      if (diagnostic._tag === 'RetryScheduled') {
        const reason = shortReason(diagnostic.cause);
        if (reasons.includes(reason)) return reasons;
        stderr.write(errorLine(`requests to ${address} fail (${reason}); retrying`));
        return [...reasons, reason];
      }
      if (reasons.length === 0 || !isSuccess(diagnostic)) return reasons;
      stderr.write(errorLine(`${address} responds again`));
      return [];
    }, []),
    ignoreElements(),
  );

/** Whether a diagnostic shows that requests succeed. */
const isSuccess = ({ _tag }: Diagnostic): boolean =>
  _tag === 'PageReceived' || _tag === 'SnapshotPageReceived' || _tag === 'SocketOpened' || _tag === 'CaughtUp';

/** How far a projection is. Only the functions that run it change it. */
export interface ProjectProgress {
  stage: 'starting' | 'running' | 'caughtUp';
  status?: ProcessStatus;
  /** The offset of the last commit. */
  offset?: number;
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
    cause: trouble && escapeJson(JSON.stringify(trouble)),
  };
  const texts = Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]));
  return `${new Date(at).toISOString()} ${texts.join(' ')}`;
}
