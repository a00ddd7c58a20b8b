import type { Diagnostic } from '../diagnostics/Diagnostic.js';
import { quotable } from '../errors/internal/message.js';

/** What a feed or a view does, as its last reports say. */
interface FeedActivity {
  readonly name: string;
  readonly kind: 'feed' | 'view' | 'processor';
  readonly state: 'reading' | 'live' | 'retrying' | 'completed' | 'failed' | 'unsubscribed';
  /** The offset up to which it has read; absent until it is known. */
  readonly offset?: number;
  /** The number of offsets that it lags, if it says so. */
  readonly lag?: number;
  /** The elements that it has received since the panel was opened. */
  readonly received: number;
  /** The time of its last report, in milliseconds since the epoch. */
  readonly at: number;
}

/** What is known of a submission. */
interface SubmissionActivity {
  readonly name: string;
  readonly state: 'prepared' | 'verified' | 'signed' | 'sent' | 'unclear' | 'committed' | 'failed';
  readonly attempts: number;
  /** The offset of its transaction. */
  readonly offset?: number;
  readonly at: number;
}

/** An error, and how often it was reported in a row. */
interface ReportedError {
  readonly source: string;
  readonly text: string;
  readonly count: number;
  readonly at: number;
}

/** How many ended feeds, submissions and errors are kept. */
const maxKept = 50;

/** What a ledger client does: all that a panel shows, from diagnostics. */
export class Activity {
  readonly #feeds = new Map<number, FeedActivity>();
  readonly #submissions = new Map<string, SubmissionActivity>();
  #errors: readonly ReportedError[] = [];

  /** Those that run, and then those that have ended; the last ones first. */
  get feeds(): readonly FeedActivity[] {
    const all = [...this.#feeds.values()].reverse();
    return [...all.filter((feed) => !hasEnded(feed)), ...all.filter(hasEnded)];
  }

  /** The last ones first. */
  get submissions(): readonly SubmissionActivity[] {
    return [...this.#submissions.values()].reverse();
  }

  /** The last ones first. */
  get errors(): readonly ReportedError[] {
    return this.#errors;
  }

  /** Forgets what has ended, and the errors. */
  clear(): void {
    for (const [id, feed] of this.#feeds) if (hasEnded(feed)) this.#feeds.delete(id);
    for (const [id, { state }] of this.#submissions)
      if (state === 'committed' || state === 'failed') this.#submissions.delete(id);
    this.#errors = [];
  }

  /** Takes a report. */
  add(diagnostic: Diagnostic): void {
    if ('submissionId' in diagnostic) this.#addToSubmission(diagnostic);
    else if (diagnostic.feed !== undefined) this.#addToFeed(diagnostic, diagnostic.feed);
    this.#addError(diagnostic);
  }

  #addToFeed(diagnostic: Diagnostic, id: number): void {
    const { processor, at } = diagnostic;
    const before = this.#feeds.get(id) ?? {
      name: processor ?? `feed ${id}`,
      kind: processor === undefined ? ('feed' as const) : ('processor' as const),
      state: 'reading' as const,
      received: 0,
    };
    this.#feeds.set(id, { ...before, ...changeOf(diagnostic, before), at });
    dropOldest(this.#feeds, hasEnded);
  }

  #addToSubmission(diagnostic: Diagnostic & { readonly submissionId: string }): void {
    const { submissionId: id, at } = diagnostic;
    const before = this.#submissions.get(id) ?? { name: id, attempts: 0 };
    const state = stateOfSubmission[diagnostic._tag as keyof typeof stateOfSubmission];
    this.#submissions.set(id, {
      ...before,
      ...('commandId' in diagnostic && { name: diagnostic.commandId }),
      ...('attempt' in diagnostic && { attempts: diagnostic.attempt }),
      ...('offset' in diagnostic && { offset: diagnostic.offset }),
      state,
      at,
    });
    dropOldest(this.#submissions, () => true);
  }

  #addError(diagnostic: Diagnostic): void {
    const error = errorOf(diagnostic);
    if (error === undefined) return;
    const { at, rule, outbox, processor, feed } = diagnostic;
    const source = rule ?? outbox ?? processor ?? (feed === undefined ? '' : `feed ${feed}`);
    const text = quotable(`${error.name}: ${error.message}`, []);
    const [last, ...rest] = this.#errors;
    const isSame = last?.source === source && last.text === text;
    this.#errors = isSame
      ? [{ ...last, count: last.count + 1, at }, ...rest]
      : [{ source, text, count: 1, at }, ...this.#errors].slice(0, maxKept);
  }
}

const hasEnded = ({ state }: FeedActivity): boolean => ['completed', 'failed', 'unsubscribed'].includes(state);

const stateOfSubmission = {
  SubmissionPrepared: 'prepared',
  SubmissionVerified: 'verified',
  SubmissionSigned: 'signed',
  SubmissionSent: 'sent',
  SubmissionUnclear: 'unclear',
  SubmissionCommitted: 'committed',
  SubmissionFailed: 'failed',
} as const;

/** Returns what a report changes of a feed. */
function changeOf(diagnostic: Diagnostic, { received }: { readonly received: number }): Partial<FeedActivity> {
  switch (diagnostic._tag) {
    case 'FeedStarted':
      return { offset: diagnostic.beginExclusive };
    case 'SnapshotStarted':
      return { kind: 'view', state: 'reading' };
    case 'SnapshotPageReceived':
      return { received: received + diagnostic.count };
    case 'SnapshotCompleted':
      return { offset: diagnostic.offset };
    case 'PageReceived': {
      const { count, last } = diagnostic;
      return { received: received + count, ...(last !== undefined && { offset: last }) };
    }
    case 'CaughtUp':
      return { state: 'live', offset: diagnostic.cursor, lag: 0 };
    case 'FellBehind': {
      const { cursor, lag } = diagnostic;
      return { state: 'reading', offset: cursor, ...(lag !== undefined && { lag }) };
    }
    case 'PositionMoved':
      return { offset: diagnostic.to.offset };
    case 'RetryScheduled':
    case 'SnapshotRestarted':
      return { state: 'retrying' };
    case 'FeedEnded':
      return { state: diagnostic.how };
    default:
      return {};
  }
}

/** The error of a report; none for the end of a feed that its error has been reported for. */
function errorOf(diagnostic: Diagnostic): Error | undefined {
  const { cause, error } = diagnostic as { readonly cause?: unknown; readonly error?: unknown };
  const found = cause ?? error;
  return found instanceof Error ? found : undefined;
}

/** Keeps the number of entries that may be dropped within bounds. */
function dropOldest<K, V>(entries: Map<K, V>, mayDrop: (value: V) => boolean): void {
  const old = [...entries].filter(([, value]) => mayDrop(value));
  for (const [key] of old.slice(0, -maxKept)) entries.delete(key);
}
