import { quotable } from '../errors/internal/message.js';
import type { LedgerError } from '../errors/LedgerError.js';
import { isStoreError } from '../errors/process.js';
import type { Diagnostic } from './Diagnostic.js';

/**
 * A logger for {@link logTo}: `console`, a logger of pino or winston, or the `Logger` of Nest. It needs the methods `warn`,
 * `error`, and `info` or `log`.
 *
 * @category Diagnostics
 */
export type LineLogger = {
  warn(line: string): unknown;
  error(line: string): unknown;
} & ({ info(line: string): unknown } | { log(line: string): unknown });

/**
 * Returns a function that logs what a person must know: that the ledger cannot be reached and is reachable again, gaps,
 * failures of handlers and submissions, and how a feed failed. Each is one line. It logs nothing while all is well.
 *
 * A failure that lasts is logged at once, and then once a minute. What is retried is a warning, what ends is an error, and a
 * recovery is information. No line contains a token or a payload, except that the message of a handler's own error is quoted.
 *
 * Create one function per ledger: it remembers what it has logged.
 *
 * @param logger - receives the lines
 * @returns the function, for `diagnostics$.subscribe`
 * @example
 * ```ts
 * import { createLedger, logTo } from 'canton-rx';
 *
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575' });
 * const logging = ledger.diagnostics$.subscribe(logTo(console));
 * logging.unsubscribe();
 * ```
 * @category Diagnostics
 */
export function logTo(logger: LineLogger): (diagnostic: Diagnostic) => void {
  const filter = new LineFilter();
  return (diagnostic) => {
    for (const { level, text, group } of [...filter.track(diagnostic), ...linesOf(diagnostic)]) {
      if (!filter.admits(diagnostic, group ?? text)) continue;
      const line = `canton-rx: ${diagnostic.feed === undefined ? '' : `feed ${diagnostic.feed}: `}${text}`;
      if (level !== 'info') logger[level](line);
      else if ('info' in logger) logger.info(line);
      else logger.log(line);
    }
  };
}

/** A line to log. */
interface Line {
  readonly level: 'info' | 'warn' | 'error';
  readonly text: string;
  /** Lines of one group are logged rarely. By default, the text is the group. */
  readonly group?: string;
}

const warn = (text: string, group?: string): readonly Line[] => [
  { level: 'warn', text, ...(group !== undefined && { group }) },
];

const fail = (text: string): readonly Line[] => [{ level: 'error', text }];

/** The lines of a diagnostic, at most one. */
function linesOf(diagnostic: Diagnostic): readonly Line[] {
  switch (diagnostic._tag) {
    case 'ResponseDelayed':
      return warn(`no response from ${diagnostic.host} for ${inSeconds(diagnostic.waitedMs)}, still waiting`);
    case 'RetryScheduled': {
      const { cause, failures, delayMs } = diagnostic;
      return warn(`${summary(cause)}, retry ${failures} in ${inSeconds(delayMs)}`, summary(cause));
    }
    case 'SocketClosed':
      return warn(`WebSocket: ${summary(diagnostic.cause)}, the feed continues over HTTP`);
    case 'GapFound': {
      const { cause, resumesFrom } = diagnostic;
      return resumesFrom === undefined ? [] : warn(`${summary(cause)}, resumes after offset ${resumesFrom}`);
    }
    case 'FeedEnded':
      // a processor whose store failed starts another feed
      if (diagnostic.how !== 'failed' || isRetriedStore(diagnostic.error)) return [];
      return fail(`ended with an error: ${details(diagnostic.error)}`);
    case 'SnapshotRestarted':
      return warn(`the snapshot begins again: ${summary(diagnostic.cause)}`);
    case 'ContractUndecoded':
      return warn(
        `a contract cannot be decoded as ${diagnostic.expectedType}: ${diagnostic.contractId}`,
        `ContractUndecoded ${diagnostic.expectedType}`,
      );
    case 'TypesUnknown':
      return warn(
        `the participant does not know ${diagnostic.types.join(', ')}; check the package and the name, next query in ${inSeconds(diagnostic.retryInMs)}`,
        `TypesUnknown ${diagnostic.types.join()}`,
      );
    case 'HandlerFailed': {
      const { offset, failures, delayMs, cause } = diagnostic;
      const text = `the handler failed at offset ${offset}: ${summary(cause)}`;
      return warn(`${text}, retry ${failures} in ${inSeconds(delayMs)}`, text);
    }
    case 'UpdateParked':
      return warn(`parked the update at offset ${diagnostic.offset}: ${summary(diagnostic.cause)}`);
    case 'UpdateSkipped':
      return warn(`skipped the update at offset ${diagnostic.offset}: ${summary(diagnostic.cause)}`);
    case 'NameLost':
      return warn(`another processor has taken over the name: ${summary(diagnostic.cause)}`);
    case 'SubmissionUnclear': {
      const { submissionId, cause, delayMs } = diagnostic;
      const text = `submission ${submissionId} has no outcome yet: ${summary(cause)}`;
      return warn(`${text}, retry in ${inSeconds(delayMs)}`, text);
    }
    case 'SubmissionFailed':
      return fail(`submission ${diagnostic.submissionId} failed: ${details(diagnostic.error)}`);
    default:
      return [];
  }
}

/** An error of the store that the processor retries: `retried` means that it has given up. */
const isRetriedStore = (error: LedgerError | undefined): boolean =>
  error !== undefined && isStoreError(error) && error.retried === undefined;

const inSeconds = (ms: number): string => `${Math.round(ms / 100) / 10} s`;

/** The first line of an error's message, without the period. */
const summary = (error: unknown): string =>
  quotable(messageOf(error).split('\n', 1)[0] ?? '', [])
    .slice(0, maxLength)
    .replace(/\.$/, '');

/** All lines of an error's message as one. */
const details = (error: unknown): string =>
  quotable(messageOf(error).replace(/\.?\n/g, '; '), []).slice(0, maxLength).replace(/\.$/, '');

const maxLength = 500;

/** A feed has no error of the ledger if the program's own code failed. */
function messageOf(error: unknown): string {
  if (error === undefined) return 'an exception of the program';
  return error instanceof Error ? error.message : 'no Error was thrown';
}

/** After how long a failure that lasts is logged again, in milliseconds. */
const repeatAfterMs = 60_000;

/** Within this time the feeds of a ledger report one outage, in milliseconds. */
const sameOutageMs = 5_000;

/** Decides which lines are new to a person. */
class LineFilter {
  /** When each group was last logged, by the time of the diagnostics. */
  readonly #loggedAt = new Map<string, number>();
  /** When the feeds that are retrying first failed. */
  readonly #failedAt = new Map<number | undefined, number>();
  #isRecoveryDue = false;

  /** Whether to log a line: the first of an outage, and later one a minute. */
  admits(diagnostic: Diagnostic, group: string): boolean {
    const { at, feed } = diagnostic;
    const isFirst = 'failures' in diagnostic && diagnostic.failures === 1;
    // the clock may be set back
    const sinceMs = Math.abs(at - (this.#loggedAt.get(group) ?? -Infinity));
    if (sinceMs < (isFirst ? sameOutageMs : repeatAfterMs)) return false;
    for (const [old, loggedAt] of this.#loggedAt) if (at - loggedAt > repeatAfterMs) this.#loggedAt.delete(old);
    this.#loggedAt.set(group, at);
    this.#isRecoveryDue ||= this.#failedAt.has(feed);
    return true;
  }

  /** Keeps track of the feeds that are retrying. Returns a line when the first of those in a logged outage recovers. */
  track(diagnostic: Diagnostic): readonly Line[] {
    const { at, feed } = diagnostic;
    switch (diagnostic._tag) {
      case 'RetryScheduled':
      case 'ResponseDelayed':
        // a page would not mean that the store has recovered
        if (!this.#failedAt.has(feed) && !('cause' in diagnostic && isStoreError(diagnostic.cause)))
          this.#failedAt.set(feed, at);
        return [];
      case 'FeedEnded':
        this.#failedAt.delete(feed);
        return [];
      case 'PageReceived':
      case 'SnapshotPageReceived':
      case 'SnapshotCompleted':
      case 'CaughtUp':
      case 'SocketOpened':
      case 'SubmissionPrepared':
      case 'SubmissionCommitted':
        // a request that is not of a feed has recovered if any succeeds
        return [...this.#recovered(undefined, at), ...this.#recovered(feed, at)];
      default:
        return [];
    }
  }

  #recovered(feed: number | undefined, at: number): readonly Line[] {
    const failedAt = this.#failedAt.get(feed);
    if (failedAt === undefined) return [];
    this.#failedAt.delete(feed);
    if (!this.#isRecoveryDue) return [];
    this.#isRecoveryDue = false;
    return [{ level: 'info', text: `recovered after ${inSeconds(at - failedAt)}`, group: `recovered at ${at}` }];
  }
}
