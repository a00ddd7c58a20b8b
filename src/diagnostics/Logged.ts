import { isLedgerError } from '../errors/LedgerError.js';
import type { Diagnostic } from './Diagnostic.js';

/** A line to log. */
export interface Line {
  readonly level: 'info' | 'warn' | 'error';
  readonly text: string;
  /**
   * The subject: lines of one kind of diagnostic about the same are logged once a minute. A line that is about nothing
   * is always logged.
   */
  readonly about?: string | undefined;
}

/** Returns a duration for a line. */
export const inSeconds = (ms: number): string => `${Math.max(1, Math.round(ms / 100)) / 10} s`;

const minuteMs = 60_000;

/** At most this number of recoveries is logged in a minute. */
const maxRecoveries = 3;

/** At most this number of groups is remembered. */
const maxGroups = 1_000;

/** The lines that have been logged: decides which lines are due, and when something has recovered. */
export class Logged {
  readonly #ledger = new Outage('recovered');
  readonly #stores = new Outage('the store works again');
  /** When each group of all other lines was last logged, oldest first. */
  readonly #others = new Map<string, number>();
  /** The processors that have caught up since the last line that says otherwise. */
  readonly #caughtUp = new Set<string>();

  /** Whether to log a line. */
  admits(diagnostic: Diagnostic, { about }: Line): boolean {
    const { _tag, at, processor = '' } = diagnostic;
    if (_tag === 'WorkCaughtUp') {
      const isNew = !this.#caughtUp.has(processor);
      this.#caughtUp.add(processor);
      return isNew;
    }
    this.#caughtUp.delete(processor);
    if (about === undefined) return true;
    return isDue(this.#outageOf(diagnostic)?.groups ?? this.#others, `${_tag} ${about}`, at);
  }

  /** Keeps track of what is retried. Returns a line when the first feed of a logged outage recovers. */
  recovery(diagnostic: Diagnostic): Line | undefined {
    const { feed } = diagnostic;
    if (feed === undefined) return undefined;
    this.#outageOf(diagnostic)?.fail(feed, diagnostic.at);
    if (diagnostic._tag === 'FeedEnded') for (const outage of [this.#ledger, this.#stores]) outage.forget(feed);
    if (successes.has(diagnostic._tag)) return this.#ledger.recover(feed, diagnostic.at);
    if (hasStored(diagnostic)) return this.#stores.recover(feed, diagnostic.at);
    return undefined;
  }

  /** The outage that a diagnostic belongs to. */
  #outageOf(diagnostic: Diagnostic): Outage | undefined {
    if (diagnostic._tag !== 'RetryScheduled' || diagnostic.feed === undefined) return undefined;
    return isLedgerError(diagnostic.cause, 'StoreError') ? this.#stores : this.#ledger;
  }
}

/** Whether a processor has reached its store. A page would not mean that. */
const hasStored = (diagnostic: Diagnostic): boolean =>
  diagnostic._tag === 'CommitSaved' || (diagnostic._tag === 'RoleChanged' && diagnostic.role !== 'starting');

/** The services that do not respond: the ledger, or stores. */
class Outage {
  /** When each group of lines was last logged, oldest first. Empty if the last line is a recovery. */
  readonly groups = new Map<string, number>();
  /** When the feeds that are retrying first failed. */
  readonly #failedAt = new Map<number, number>();
  /** When recoveries were last logged. */
  readonly #recoveredAt: number[] = [];

  constructor(private readonly recovered: string) {}

  fail(feed: number, at: number): void {
    this.#failedAt.set(feed, this.#failedAt.get(feed) ?? at);
  }

  forget(feed: number): void {
    this.#failedAt.delete(feed);
  }

  /** Returns a line if the outage was logged. If it is too early for this line, a later success returns it. */
  recover(feed: number, at: number): Line | undefined {
    const failedAt = this.#failedAt.get(feed);
    if (failedAt === undefined) return undefined;
    const wasLogged = this.groups.size > 0;
    if (wasLogged && this.#recoveredAt.length === maxRecoveries && isRecent(this.#recoveredAt[0], at)) return undefined;
    this.#failedAt.delete(feed);
    if (!wasLogged) return undefined;
    this.groups.clear();
    this.#recoveredAt.push(at);
    this.#recoveredAt.splice(0, this.#recoveredAt.length - maxRecoveries);
    return { level: 'info', text: `${this.recovered} after ${inSeconds(at - failedAt)}` };
  }
}

/** Whether a line of a group is due. Notes it, and forgets groups that are due anyway. */
function isDue(loggedAt: Map<string, number>, group: string, at: number): boolean {
  if (isRecent(loggedAt.get(group), at)) return false;
  loggedAt.delete(group);
  loggedAt.set(group, at);
  for (const [oldest, oldestAt] of loggedAt) {
    if (isRecent(oldestAt, at) && loggedAt.size <= maxGroups) break;
    loggedAt.delete(oldest);
  }
  return true;
}

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
