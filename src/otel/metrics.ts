import type { Attributes, BatchObservableResult, ObservableGauge } from '@opentelemetry/api';
import type { SynchronizerTime } from '../codecs/OffsetCheckpoint.js';
import type { Offset, Timestamp } from '../codecs/scalars.js';
import type { Diagnostic, DiagnosticOf } from '../diagnostics/Diagnostic.js';
import type { ProcessorRole } from '../diagnostics/ProcessDiagnostic.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { monotonicNow } from '../http/clock.js';
import { type Recorder, safely } from './Recorder.js';

/** Counts a diagnostic: of a feed, a processor, a submission, a rule or an outbox. */
export function countDiagnostic(recorder: Recorder, diagnostic: Diagnostic): void {
  const attributes: Attributes =
    diagnostic.processor === undefined ? {} : { 'canton_rx.processor.name': diagnostic.processor };
  switch (diagnostic._tag) {
    case 'RetryScheduled':
    case 'SubmissionUnclear':
    case 'SocketClosed':
    case 'GapFound':
    case 'HandlerFailed':
    case 'UpdateSkipped':
    case 'UpdateParked':
      recorder.measure(counterOf[diagnostic._tag], 1, {
        ...attributes,
        'error.type': recorder.errorType(diagnostic.cause),
      });
      // the error of a handler belongs to the program, regardless of its type
      if (diagnostic._tag !== 'HandlerFailed') countUndecodable(recorder, attributes, diagnostic.cause);
      break;
    case 'FeedEnded':
      if (diagnostic.processor !== undefined) recordRole(recorder, attributes, undefined);
      if (diagnostic.how !== 'failed') break;
      recorder.measure('feed.failures', 1, { ...attributes, 'error.type': recorder.errorType(diagnostic.error) });
      countUndecodable(recorder, attributes, diagnostic.error);
      break;
    case 'RoleChanged':
      recordRole(recorder, attributes, diagnostic.role);
      break;
    case 'CommitSaved':
      recorder.measure('handler.duration', diagnostic.handlerMs / 1_000, attributes);
      recorder.measure('commit.duration', diagnostic.commitMs / 1_000, attributes);
      recorder.measure('processor.offset', diagnostic.offset, attributes);
      break;
    case 'PageLimitLearned':
      // the limit belongs to the ledger, regardless of which feed reports it
      recorder.measure('page_limit', diagnostic.pageLimit, {});
      break;
    case 'ActionCommitted':
    case 'ActionObsolete':
    case 'ActionFailed':
      countAction(recorder, diagnostic);
      break;
    case 'CommandCommitted':
    case 'CommandDropped':
    case 'CommandFailed':
    case 'CommandParked':
      countCommand(recorder, diagnostic);
      break;
    case 'WorkCounted':
      recordWork(recorder, diagnostic);
      break;
    default:
  }
}

/** The counters of diagnostics that have a cause. */
const counterOf = {
  RetryScheduled: 'retries',
  SubmissionUnclear: 'retries',
  SocketClosed: 'sockets.closed',
  GapFound: 'gaps',
  HandlerFailed: 'handler.failures',
  UpdateSkipped: 'updates.skipped',
  UpdateParked: 'updates.parked',
} as const;

const roles: readonly ProcessorRole[] = ['starting', 'standby', 'leader'];

/** Records the role of a processor; `undefined` for one that has ended. */
function recordRole(recorder: Recorder, attributes: Attributes, role: ProcessorRole | undefined): void {
  for (const each of roles)
    recorder.measure('processor.role', each === role ? 1 : 0, { ...attributes, 'canton_rx.processor.role': each });
}

/** Counts an action of a rule of `automate` by its outcome. */
function countAction(
  recorder: Recorder,
  diagnostic: DiagnosticOf<'ActionCommitted' | 'ActionObsolete' | 'ActionFailed'>,
): void {
  const isRepeated = diagnostic._tag === 'ActionCommitted' && diagnostic.isRepeated;
  const rule = { 'canton_rx.rule.name': diagnostic.rule };
  recorder.measure('actions', 1, {
    ...rule,
    'canton_rx.action.outcome': isRepeated ? 'repeated' : outcomes[diagnostic._tag],
    ...('cause' in diagnostic && { 'error.type': recorder.errorType(diagnostic.cause) }),
  });
  if (diagnostic._tag === 'ActionCommitted' && !isRepeated)
    recorder.measure('action.latency', Math.max(0, diagnostic.latencyMs) / 1_000, rule);
}

/** The values of `canton_rx.action.outcome`, by diagnostic. */
const outcomes = { ActionCommitted: 'committed', ActionObsolete: 'obsolete', ActionFailed: 'failed' } as const;

/** Counts a command of an outbox by its outcome. */
function countCommand(
  recorder: Recorder,
  diagnostic: DiagnosticOf<'CommandCommitted' | 'CommandDropped' | 'CommandFailed' | 'CommandParked'>,
): void {
  const isRepeated = diagnostic._tag === 'CommandCommitted' && diagnostic.isRepeated;
  recorder.measure('commands', 1, {
    'canton_rx.outbox.name': diagnostic.outbox,
    'canton_rx.command.outcome': isRepeated ? 'repeated' : commandOutcomes[diagnostic._tag],
    ...('cause' in diagnostic && { 'error.type': recorder.errorType(diagnostic.cause) }),
  });
}

/** The values of `canton_rx.command.outcome`, by diagnostic. */
const commandOutcomes = {
  CommandCommitted: 'committed',
  CommandDropped: 'dropped',
  CommandFailed: 'failed',
  CommandParked: 'parked',
} as const;

const workStates = ['waiting', 'due', 'running', 'parked'] as const;

/** Records how much a rule or an outbox has to do. */
function recordWork(recorder: Recorder, counted: DiagnosticOf<'WorkCounted'>): void {
  const name: Attributes =
    'rule' in counted ? { 'canton_rx.rule.name': counted.rule } : { 'canton_rx.outbox.name': counted.outbox };
  for (const state of workStates) recorder.measure('work', counted[state], { ...name, 'canton_rx.work.state': state });
  recorder.measure('work.age', counted.oldestMs / 1_000, name);
}

/** Counts a failure that is a `DecodeError`, or an unknown outcome whose last error was one. */
export function countUndecodable(recorder: Recorder, attributes: Attributes, error: unknown): void {
  const cause = isLedgerError(error, 'OutcomeUnknownError') ? error.lastError : error;
  if (isLedgerError(cause, 'DecodeError')) recorder.measure('decode.failures', 1, attributes);
}

/** The progress of a feed that has no end. */
export interface Follower {
  /** The name of its processor, if it has one. */
  readonly attributes: Attributes;
  cursor: Offset | undefined;
  /** When its processor last committed, in milliseconds since the epoch. */
  committedAt?: number;
  /** The newest record time of each synchronizer. */
  readonly recordTimes: Map<string, Timestamp>;
}

/** Updates the newest record times of a feed, which emits the times of each synchronizer in order. */
export function updateRecordTimes(
  { recordTimes }: Follower,
  times: readonly SynchronizerTime[],
  recorder: Recorder,
): void {
  for (const { synchronizerId, recordTime } of times)
    recordTimes.set(recorder.synchronizerLabel(synchronizerId), recordTime);
}

/** The gauges of the lag. */
type Gauges = Readonly<Record<'offsets' | 'recordTime' | 'commit', ObservableGauge>>;

/** A value of a gauge. */
interface Lag {
  readonly gauge: keyof Gauges;
  readonly attributes: Attributes;
  readonly value: number;
}

/**
 * The subscribed feeds of one ledger that have no end. Their lag is observed only while there are any, because a meter
 * retains its callbacks.
 */
export class Followers {
  /** The last known ledger end. */
  ledgerEnd: Offset | undefined;
  readonly #all = new Set<Follower>();
  /** Those that could not be counted yet, because there was no meter. */
  readonly #uncounted = new Set<Follower>();
  #observed: ReadonlyMap<string, Lag> = new Map();
  #stop: (() => void) | undefined;

  constructor(private readonly recorder: Recorder) {}

  add(follower: Follower): void {
    this.#all.add(follower);
    this.#uncounted.add(follower);
    this.count();
  }

  /** Counts the feeds that are not counted yet, and observes their lag, if there is a meter now. */
  count(): void {
    if (this.#uncounted.size === 0 || this.recorder.meter === undefined) return;
    for (const { attributes } of this.#uncounted) this.recorder.measure('feeds.active', 1, attributes);
    this.#uncounted.clear();
    this.#stop ??= safely(() => this.#start());
  }

  remove(follower: Follower): void {
    if (this.#all.delete(follower) && !this.#uncounted.delete(follower))
      this.recorder.measure('feeds.active', -1, follower.attributes);
  }

  /** Observes the lag whenever the meter is read; returns the function that stops it. */
  #start(): (() => void) | undefined {
    const meter = this.recorder.meter;
    if (meter === undefined) return undefined;
    const gauge = (name: string, unit: string, description: string): ObservableGauge =>
      meter.createObservableGauge(`canton_rx.${name}`, { unit, description });
    const gauges: Gauges = {
      offsets: gauge('lag.offsets', '{offset}', 'Offsets between the slowest feed and the last known ledger end'),
      recordTime: gauge('lag.record_time', 's', 'Age of the newest record time of a synchronizer in the slowest feed'),
      commit: gauge('commit.age', 's', 'Time since the last commit of the slowest processor that holds its name'),
    };
    const observed = Object.values(gauges);
    const observe = (result: BatchObservableResult): void => {
      this.#observe(result, gauges);
    };
    meter.addBatchObservableCallback(observe, observed);
    return () => {
      meter.removeBatchObservableCallback(observe, observed);
    };
  }

  /** Observes the lag, and zero once after the last feed has ended: a meter exports the last value of a gauge. */
  #observe(result: BatchObservableResult, gauges: Gauges): void {
    const lags = this.#lags();
    safely(() => {
      for (const [key, { gauge, attributes, value }] of new Map([...this.#observed, ...lags]))
        result.observe(gauges[gauge], lags.has(key) ? value : 0, { ...this.recorder.ledger, ...attributes });
    });
    this.#observed = lags;
    // a callback must not be removed while the meter iterates over its callbacks
    queueMicrotask(() => {
      if (this.#all.size > 0) return;
      safely(() => this.#stop?.());
      this.#stop = undefined;
    });
  }

  /** Returns the lag of the slowest of the feeds that have the same attributes. */
  #lags(): ReadonlyMap<string, Lag> {
    const lags = new Map<string, Lag>();
    const note = (gauge: keyof Gauges, attributes: Attributes, value: number): void => {
      const key = `${gauge} ${JSON.stringify(attributes)}`;
      // a feed may be ahead of the last known ledger end, and a clock may be slow
      lags.set(key, { gauge, attributes, value: Math.max(0, value, lags.get(key)?.value ?? 0) });
    };
    for (const { attributes, cursor, recordTimes, committedAt } of this.#all) {
      if (committedAt !== undefined) note('commit', attributes, (monotonicNow() - committedAt) / 1_000);
      if (cursor !== undefined && this.ledgerEnd !== undefined) note('offsets', attributes, this.ledgerEnd - cursor);
      for (const [id, time] of recordTimes)
        note('recordTime', { ...attributes, 'canton.synchronizer.id': id }, (Date.now() - Date.parse(time)) / 1_000);
    }
    return lags;
  }
}
