import {
  EMPTY,
  finalize,
  ignoreElements,
  map,
  type Observable,
  scan,
  startWith,
  tap,
  timer,
  withLatestFrom,
} from 'rxjs';
import type { Diagnostic } from '../diagnostics/Diagnostic.js';
import type { LedgerError } from '../errors/LedgerError.js';
import type { Ledger } from '../ledger/Ledger.js';
import type { Output } from './output.js';
import type { Paint, StatusLine } from './terminal.js';
import { errorLine } from './World.js';

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
  /** How many samples the rate is computed from, four for each second. */
  readonly sampleCount: number;
  /** Formats the last samples, the oldest one first. They begin again when the feed has caught up, and when it falls behind. */
  readonly format: (samples: readonly Sample<P>[], pace: Pace, paint: Paint) => string;
  /** The time before the first sample, in milliseconds; default: 0. */
  readonly delayMs?: number;
}

const intervalMs = 250;

const initialPace: Pace = { hasCaughtUp: false };

/** Shows the progress of a command while subscribed, if there is a terminal. */
export function showProgress<P extends object>(
  { diagnostics$ }: Pick<Ledger, 'diagnostics$'>,
  status: StatusLine,
  { read, sampleCount, format, delayMs = 0 }: ProgressView<P>,
): Observable<unknown> {
  if (!status.isVisible) return EMPTY;
  const pace$ = diagnostics$.pipe(scan(nextPace, initialPace), startWith(initialPace));
  return timer(delayMs, intervalMs).pipe(
    map((): Sample<P> => ({ ...read(), at: Date.now() })),
    withLatestFrom(pace$),
    scan(
      ({ samples, pace: before }: Recent<P>, [sample, pace]): Recent<P> => ({
        // updates of the past are read faster than new ones occur: no rate is computed from both
        samples: pace.hasCaughtUp === before.hasCaughtUp ? [...samples, sample].slice(-sampleCount) : [sample],
        pace,
      }),
      { samples: [], pace: initialPace },
    ),
    tap(({ samples, pace }) => {
      status.show((paint) => format(samples, pace, paint));
    }),
    finalize(() => {
      status.clear();
    }),
  );
}

/** The last samples of one state of a feed. */
interface Recent<P> {
  readonly samples: readonly Sample<P>[];
  readonly pace: Pace;
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

const names: Readonly<Partial<Record<LedgerError['_tag'], string>>> = {
  RequestTimeoutError: 'timeout',
  LedgerResetError: 'the ledger ends before the cursor',
};

/** The codes of fetch and of the system for a connection that breaks during a request. */
const brokenCodes: readonly string[] = ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'];

/** The reason of a retry, in a few words. */
export function shortReason(error: LedgerError): string {
  if (error._tag === 'ApiError') return error.code ?? String(error.status);
  if (error._tag === 'ConnectionError')
    return brokenCodes.includes(error.code ?? '') ? 'the connection broke' : (error.code ?? error.reason);
  return names[error._tag] ?? error.name;
}

/**
 * Reports to stderr when the requests to a ledger begin to fail, and when they succeed again, while subscribed: once for each
 * outage and each cause of it. For commands without a status line.
 *
 * @param address - the host and port of the ledger
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
