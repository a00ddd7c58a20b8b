import { quotable } from '../errors/internal/message.js';
import { type LedgerError, isLedgerError } from '../errors/LedgerError.js';
import { isMistake } from '../errors/process.js';
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
 * failures of handlers and submissions, and each feed or processor that ended with an error. It logs nothing while all is
 * well.
 *
 * A failure that lasts is logged at once, and then once a minute. What is retried is a warning, what ends is an error, and a
 * recovery is information. A diagnostic is at most one line, without control characters. The line quotes the error, and so what
 * the ledger, a store or a handler says about it, but no token and no signature. The function does not throw.
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
  const logged = new Logged();
  return (diagnostic) => {
    const line = logged.recovery(diagnostic) ?? lineOf(diagnostic);
    if (line === undefined || !logged.admits(diagnostic, line)) return;
    const { feed } = diagnostic;
    // parts of the text are from outside the library
    const text = quotable(`canton-rx: ${feed === undefined ? '' : `feed ${feed}: `}${line.text}`, []);
    if (line.level !== 'info') logger[line.level](text);
    else if ('info' in logger) logger.info(text);
    else logger.log(text);
  };
}

/** A line to log. */
interface Line {
  readonly level: 'info' | 'warn' | 'error';
  readonly text: string;
  /** Lines of one group are logged once a minute. A line without a group is always logged. */
  readonly group?: string;
}

const warn = (text: string, group?: string): Line => ({ level: 'warn', text, ...(group !== undefined && { group }) });

const fail = (text: string): Line => ({ level: 'error', text });

/** The line of a diagnostic that a person must know. */
function lineOf(diagnostic: Diagnostic): Line | undefined {
  const { _tag } = diagnostic;
  switch (_tag) {
    case 'PartyUnknown':
      return warn(`the participant does not host the party ${diagnostic.party}; check its id`);
    case 'ResponseDelayed': {
      const { host, waitedMs } = diagnostic;
      return warn(`no response from ${host} for ${inSeconds(waitedMs)}, still waiting`, `${_tag} ${host}`);
    }
    case 'RetryScheduled': {
      const { cause, failures, delayMs } = diagnostic;
      return warn(`${summary(cause)}, retry ${failures} in ${inSeconds(delayMs)}`, `${_tag} ${kindOf(cause)}`);
    }
    case 'SocketClosed': {
      const { cause } = diagnostic;
      return warn(`WebSocket: ${summary(cause)}, the feed continues over HTTP`, `${_tag} ${kindOf(cause)}`);
    }
    case 'GapFound': {
      const { cause, resumesFrom } = diagnostic;
      return resumesFrom === undefined ? undefined : warn(`${summary(cause)}, resumes after offset ${resumesFrom}`);
    }
    case 'LedgerUnproven':
      return warn(`nothing shows whether the ledger is still the same, the feed continues after ${diagnostic.cursor}`);
    case 'FeedEnded':
      return diagnostic.how === 'failed' ? fail(`ended with an error: ${details(diagnostic.error)}`) : undefined;
    case 'SnapshotRestarted': {
      const { cause } = diagnostic;
      return warn(`the snapshot begins again: ${summary(cause)}`, `${_tag} ${kindOf(cause)}`);
    }
    case 'ContractUndecoded': {
      const { expectedType, contractId } = diagnostic;
      return warn(`a contract cannot be decoded as ${expectedType}: ${contractId}`, `${_tag} ${expectedType}`);
    }
    case 'TypesUnknown': {
      const types = diagnostic.types.join(', ');
      const next = `next query in ${inSeconds(diagnostic.retryInMs)}`;
      return warn(
        `the participant does not know ${types}; check the package and the name, ${next}`,
        `${_tag} ${types}`,
      );
    }
    case 'HandlerFailed': {
      const { feed = '', offset, failures, delayMs, cause } = diagnostic;
      const next = `retry ${failures} in ${inSeconds(delayMs)}`;
      return warn(`the handler failed at offset ${offset}: ${summary(cause)}, ${next}`, `${_tag} ${feed} ${offset}`);
    }
    case 'UpdateParked':
      return warn(`parked the update at offset ${diagnostic.offset}: ${summary(diagnostic.cause)}`);
    case 'UpdateSkipped':
      return warn(`skipped the update at offset ${diagnostic.offset}: ${summary(diagnostic.cause)}`);
    case 'NameLost':
      return warn(`another processor has taken over the name: ${summary(diagnostic.cause)}`);
    case 'RowsReplaced': {
      const { reason, contracts, exercises, updates, schema, offset } = diagnostic;
      const why =
        reason === 'ledgerReset' ? 'the ledger was restored or replaced' : 'the contracts were loaded from the start';
      return fail(
        `${why}: ${contracts} contracts, ${exercises} exercises and ${updates} updates are removed from the schema ${schema}, which now has the contracts at offset ${offset}`,
      );
    }
    case 'ActionFailed': {
      const { rule, contractId, cause, retryAt, at } = diagnostic;
      const next = retryAt === undefined ? 'the rule does not repeat it' : `retry in ${inSeconds(retryAt - at)}`;
      const group = `${_tag} ${rule} ${isLedgerError(cause) ? kindOf(cause) : summary(cause)}`;
      return warn(`rule ${rule}: no action on contract ${contractId}: ${summary(cause)}, ${next}`, group);
    }
    case 'CommandParked': {
      const { outbox, id, commandId, cause } = diagnostic;
      return warn(`outbox ${outbox}: parked command ${id} (${commandId}): ${summary(cause)}`);
    }
    case 'SubmissionUnclear': {
      const { submissionId, cause, delayMs } = diagnostic;
      const text = `submission ${submissionId} has no outcome yet: ${summary(cause)}, retry in ${inSeconds(delayMs)}`;
      return warn(text, `${_tag} ${submissionId} ${kindOf(cause)}`);
    }
    case 'SubmissionFailed': {
      const { submissionId, error } = diagnostic;
      const text = `submission ${submissionId} failed: ${details(error)}`;
      // a lost race is usual
      const isContention = isLedgerError(error, 'SubmissionRejectedError') && error.isContention;
      return { ...(isContention ? warn(text) : fail(text)), ...(error && { group: `${_tag} ${kindOf(error)}` }) };
    }
    default:
      return undefined;
  }
}

const inSeconds = (ms: number): string => `${Math.max(1, Math.round(ms / 100)) / 10} s`;

/** Identifies what failed. The text of an error may differ each time. */
function kindOf(error: LedgerError): string {
  const facts = new Map<string, unknown>(Object.entries(error));
  return kindKeys.map((key) => String(facts.get(key))).join(' ');
}

const kindKeys = ['_tag', 'host', 'status', 'code', 'operation'];

/** The first line of an error's message, without the period. */
const summary = (error: unknown): string => shorten(messageOf(error).split('\n', 1)[0] ?? '') + stackOf(error);

/** All lines of an error's message as one. */
const details = (error: unknown): string =>
  shorten(messageOf(error).replace(/\.?\n/g, '; ')) + stackOf(isLedgerError(error, 'HandlerError') && error.cause);

/** The calls that led to a mistake of the program: without them, its message does not say where it is. */
const stackOf = (error: unknown): string =>
  isMistake(error) ? ` ${/\n\s*(at .*)/s.exec(String(error.stack))?.[1]?.slice(0, 1_000) ?? ''}` : '';

const shorten = (text: string): string => text.slice(0, 500).replace(/\.$/, '');

/** The message of an error, which may be any value of the program. */
function messageOf(error: unknown): string {
  // a feed has no error of the ledger if the program's own code failed
  if (error === undefined) return 'an exception of the program';
  try {
    const message: unknown = error instanceof Error ? error.message : undefined;
    return typeof message === 'string' ? message : 'no Error was thrown';
  } catch {
    return 'an Error without a message';
  }
}

const minuteMs = 60_000;

/** At most this number of recoveries is logged in a minute. */
const maxRecoveries = 3;

/** At most this number of groups is remembered. */
const maxGroups = 1_000;

/** What has been logged. */
class Logged {
  /** When each group of the current outage was last logged, oldest first. Empty if the last line of an outage is a recovery. */
  readonly #outage = new Map<string, number>();
  /** The same for all other lines. */
  readonly #others = new Map<string, number>();
  /** When the feeds that are retrying first failed. */
  readonly #failedAt = new Map<number, number>();
  /** When recoveries were last logged. */
  readonly #recoveredAt: number[] = [];

  /** Whether to log a line. */
  admits(diagnostic: Diagnostic, { group }: Line): boolean {
    if (group === undefined) return true;
    const { at } = diagnostic;
    const loggedAt = isOutage(diagnostic) ? this.#outage : this.#others;
    if (isRecent(loggedAt.get(group), at)) return false;
    loggedAt.delete(group);
    loggedAt.set(group, at);
    for (const [oldest, oldestAt] of loggedAt) {
      if (isRecent(oldestAt, at) && loggedAt.size <= maxGroups) break;
      loggedAt.delete(oldest);
    }
    return true;
  }

  /**
   * Keeps track of the feeds that are retrying. Returns a line when the first feed of a logged outage recovers. If it is too
   * early for this line, a later success returns it.
   */
  recovery(diagnostic: Diagnostic): Line | undefined {
    const { at, feed } = diagnostic;
    if (feed === undefined) return undefined;
    const failedAt = this.#failedAt.get(feed);
    if (isOutage(diagnostic)) this.#failedAt.set(feed, failedAt ?? at);
    if (diagnostic._tag === 'FeedEnded') this.#failedAt.delete(feed);
    if (failedAt === undefined || !successes.has(diagnostic._tag)) return undefined;
    const isDue = this.#outage.size > 0;
    if (isDue && this.#recoveredAt.length === maxRecoveries && isRecent(this.#recoveredAt[0], at)) return undefined;
    this.#failedAt.delete(feed);
    if (!isDue) return undefined;
    this.#outage.clear();
    this.#recoveredAt.push(at);
    this.#recoveredAt.splice(0, this.#recoveredAt.length - maxRecoveries);
    return { level: 'info', text: `recovered after ${inSeconds(at - failedAt)}` };
  }
}

/** Whether a feed does not reach the ledger. A page would not mean that a store has recovered. */
const isOutage = (diagnostic: Diagnostic): boolean =>
  diagnostic._tag === 'RetryScheduled' &&
  diagnostic.feed !== undefined &&
  !isLedgerError(diagnostic.cause, 'StoreError');

/** The diagnostics of a feed that has reached the ledger. */
const successes: ReadonlySet<Diagnostic['_tag']> = new Set([
  'PageReceived',
  'SnapshotPageReceived',
  'SnapshotCompleted',
  'CaughtUp',
  'SocketOpened',
] as const);

/** Whether a line was logged within the last minute. The clock may be set back. */
const isRecent = (loggedAt: number | undefined, at: number): boolean =>
  loggedAt !== undefined && Math.abs(at - loggedAt) < minuteMs;
