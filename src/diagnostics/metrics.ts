import { isLedgerError } from '../errors/LedgerError.js';
import { isCode } from '../errors/textOf.js';
import type { Diagnostic, DiagnosticOf } from './Diagnostic.js';
import type { ProcessorRole } from './ProcessDiagnostic.js';

/** Bucket boundaries in seconds: most responses take milliseconds, a poll waits until its idle timeout. */
const requestBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 7.5, 10, 20, 30];

/** Bucket boundaries in seconds: a submission takes seconds, or minutes if its outcome is recovered. */
const submissionBuckets = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

/** Bucket boundaries in seconds: a rule acts at once, or when the contract is due, which may take weeks. */
const actionBuckets = [0.1, 0.5, 1, 5, 30, 60, 300, 3_600, 21_600, 86_400, 604_800, 2_592_000];

/** What is measured: the kind of instrument, its unit, its description, and the bounds of its buckets. */
export const metrics = {
  'request.duration': ['Histogram', 's', 'Duration of requests to the participant', requestBuckets],
  polls: ['Counter', '{request}', 'Requests for updates'],
  updates: ['Counter', '{update}', 'Updates emitted by feeds or handled by processors'],
  'feeds.active': ['UpDownCounter', '{feed}', 'Subscribed feeds and processors that have no end'],
  retries: ['Counter', '{retry}', 'Retries of feeds, submissions and stores after transient failures'],
  'sockets.closed': ['Counter', '{socket}', 'WebSockets that closed or did not open'],
  page_limit: ['Gauge', '{update}', 'Largest page that feeds request after the participant rejected a larger one'],
  gaps: ['Counter', '{gap}', 'Feeds that cannot continue without a gap'],
  'feed.failures': ['Counter', '{feed}', 'Feeds that ended with an error'],
  'decode.failures': ['Counter', '{failure}', 'Responses and updates that cannot be decoded'],
  'handler.failures': ['Counter', '{failure}', 'Failures of a handler that are followed by a retry'],
  'updates.skipped': ['Counter', '{update}', 'Updates that a processor skipped'],
  'updates.parked': ['Counter', '{update}', 'Updates that a processor parked'],
  'handler.duration': ['Histogram', 's', 'Time that the handler of a processor took for a commit', requestBuckets],
  'commit.duration': ['Histogram', 's', 'Time that the store took to begin, save and commit', requestBuckets],
  'processor.role': ['Gauge', '{processor}', '1 for the role that the processor has, 0 for the others'],
  'processor.offset': ['Gauge', '{offset}', 'Offset of the cursor that the processor has saved'],
  submissions: ['Counter', '{submission}', 'Submissions by outcome'],
  'submission.duration': ['Histogram', 's', 'Duration of submissions until their outcome', submissionBuckets],
  work: ['Gauge', '{item}', 'Contracts of a rule, or commands of an outbox, by state'],
  'work.age': ['Gauge', 's', 'How long the oldest contract of a rule, or command of an outbox, has waited'],
  commands: ['Counter', '{command}', 'Commands of outboxes by outcome'],
  actions: ['Counter', '{action}', 'Actions of rules by outcome'],
  'action.latency': [
    'Histogram',
    's',
    'Time from the creation of a contract to the commit of its action',
    actionBuckets,
  ],
} as const;

/** The name of a metric, without the prefix `canton_rx.`. */
export type MetricName = keyof typeof metrics;

/** The attributes of a measurement. */
type Labels = Readonly<Record<string, string | number>>;

/** Takes measurements: an SDK of telemetry, or a page of metrics. */
export interface MetricSink {
  /** Adds to a counter, or records a value. */
  readonly measure: (name: MetricName, value: number, labels: Labels) => void;
  /** Returns the value of `error.type` for an error, from a bounded set. */
  readonly errorType: (error: unknown) => string;
}

/** Counts a diagnostic: of a feed, a processor, a submission, a rule or an outbox. */
export function countDiagnostic(sink: MetricSink, diagnostic: Diagnostic): void {
  const attributes: Labels =
    diagnostic.processor === undefined ? {} : { 'canton_rx.processor.name': diagnostic.processor };
  switch (diagnostic._tag) {
    case 'RetryScheduled':
    case 'SubmissionUnclear':
    case 'SocketClosed':
    case 'GapFound':
    case 'HandlerFailed':
    case 'UpdateSkipped':
    case 'UpdateParked':
      sink.measure(counterOf[diagnostic._tag], 1, {
        ...attributes,
        'error.type': sink.errorType(diagnostic.cause),
      });
      // the error of a handler belongs to the program, regardless of its type
      if (diagnostic._tag !== 'HandlerFailed') countUndecodable(sink, attributes, diagnostic.cause);
      break;
    case 'FeedEnded':
      if (diagnostic.processor !== undefined) recordRole(sink, attributes, undefined);
      if (diagnostic.how !== 'failed') break;
      sink.measure('feed.failures', 1, { ...attributes, 'error.type': sink.errorType(diagnostic.error) });
      countUndecodable(sink, attributes, diagnostic.error);
      break;
    case 'RoleChanged':
      recordRole(sink, attributes, diagnostic.role);
      break;
    case 'CommitSaved':
      sink.measure('handler.duration', diagnostic.handlerMs / 1_000, attributes);
      sink.measure('commit.duration', diagnostic.commitMs / 1_000, attributes);
      sink.measure('processor.offset', diagnostic.offset, attributes);
      break;
    case 'PageLimitLearned':
      // the limit belongs to the ledger, regardless of which feed reports it
      sink.measure('page_limit', diagnostic.pageLimit, {});
      break;
    case 'ActionCommitted':
    case 'ActionObsolete':
    case 'ActionFailed':
      countAction(sink, diagnostic);
      break;
    case 'CommandCommitted':
    case 'CommandDropped':
    case 'CommandFailed':
    case 'CommandParked':
      countCommand(sink, diagnostic);
      break;
    case 'WorkCounted':
      recordWork(sink, diagnostic);
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
function recordRole(sink: MetricSink, attributes: Labels, role: ProcessorRole | undefined): void {
  for (const each of roles)
    sink.measure('processor.role', each === role ? 1 : 0, { ...attributes, 'canton_rx.processor.role': each });
}

/** Counts an action of a rule of `automate` by its outcome. */
function countAction(
  sink: MetricSink,
  diagnostic: DiagnosticOf<'ActionCommitted' | 'ActionObsolete' | 'ActionFailed'>,
): void {
  const isRepeated = diagnostic._tag === 'ActionCommitted' && diagnostic.isRepeated;
  const rule = { 'canton_rx.rule.name': diagnostic.rule };
  sink.measure('actions', 1, {
    ...rule,
    'canton_rx.action.outcome': isRepeated ? 'repeated' : outcomes[diagnostic._tag],
    ...('cause' in diagnostic && { 'error.type': sink.errorType(diagnostic.cause) }),
  });
  if (diagnostic._tag === 'ActionCommitted' && !isRepeated)
    sink.measure('action.latency', Math.max(0, diagnostic.latencyMs) / 1_000, rule);
}

/** The values of `canton_rx.action.outcome`, by diagnostic. */
const outcomes = { ActionCommitted: 'committed', ActionObsolete: 'obsolete', ActionFailed: 'failed' } as const;

/** Counts a command of an outbox by its outcome. */
function countCommand(
  sink: MetricSink,
  diagnostic: DiagnosticOf<'CommandCommitted' | 'CommandDropped' | 'CommandFailed' | 'CommandParked'>,
): void {
  const isRepeated = diagnostic._tag === 'CommandCommitted' && diagnostic.isRepeated;
  sink.measure('commands', 1, {
    'canton_rx.outbox.name': diagnostic.outbox,
    'canton_rx.command.outcome': isRepeated ? 'repeated' : commandOutcomes[diagnostic._tag],
    ...('cause' in diagnostic && { 'error.type': sink.errorType(diagnostic.cause) }),
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
function recordWork(sink: MetricSink, counted: DiagnosticOf<'WorkCounted'>): void {
  const name: Labels =
    'rule' in counted ? { 'canton_rx.rule.name': counted.rule } : { 'canton_rx.outbox.name': counted.outbox };
  for (const state of workStates) sink.measure('work', counted[state], { ...name, 'canton_rx.work.state': state });
  sink.measure('work.age', counted.oldestMs / 1_000, name);
}

/** Counts a failure that is a `DecodeError`, or an unknown outcome whose last error was one. */
export function countUndecodable(sink: MetricSink, attributes: Labels, error: unknown): void {
  const cause = isLedgerError(error, 'OutcomeUnknownError') ? error.lastError : error;
  if (isLedgerError(cause, 'DecodeError')) sink.measure('decode.failures', 1, attributes);
}

/**
 * Returns the kind of an error, for `error.type`: the code of the ledger or of the system, an HTTP status, or the name
 * of the error. Never returns its message, which may quote payloads or credentials.
 *
 * @internal
 */
export function errorTypeOf(error: unknown): string {
  if (!isLedgerError(error)) return error instanceof Error && isName(error.name) ? error.name : '_OTHER';
  const code = 'code' in error ? error.code : undefined;
  // a participant sends NA in place of a code that it withholds
  if (isCode(code) && code !== 'NA') return code;
  return error._tag === 'ApiError' ? String(error.status) : error._tag;
}

/** Whether a value is an identifier, not a human-readable text. */
const isName = (u: unknown): u is string => typeof u === 'string' && /^[A-Za-z_]\w{0,79}$/.test(u);

/** Returns a function like {@link errorTypeOf} with a bounded set of values. */
export const boundedErrorType = (): ((error: unknown) => string) => {
  const bounded = limitDistinct(maxErrorTypes);
  return (error) => bounded(errorTypeOf(error));
};

/** The ledger has about two hundred codes, of which a program encounters a few. */
const maxErrorTypes = 100;

/**
 * Returns the first `max` distinct texts unchanged and `_OTHER` for all others. This limits the number of time series.
 */
export function limitDistinct(max: number): (text: string) => string {
  const known = new Set<string>();
  return (text) => {
    if (known.size < max) known.add(text);
    return known.has(text) ? text : '_OTHER';
  };
}
