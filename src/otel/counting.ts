import type { Attributes } from '@opentelemetry/api';
import type { Update } from '../codecs/Update.js';
import type { Diagnostic } from '../diagnostics/Diagnostic.js';
import { isDecodeError } from '../errors/feed.js';
import { isOutcomeUnknownError } from '../errors/submission.js';
import type { InvalidUpdate } from '../feed/UpdatesOptions.js';
import { synchronizersOf } from '../operators/internal/times.js';
import type { Recorder } from './Recorder.js';

/** Counts a diagnostic of an operation. */
export function countDiagnostic(recorder: Recorder, attributes: Attributes, diagnostic: Diagnostic): void {
  const { measure, errorType } = recorder;
  measure((instruments, ledger) => {
    const common = { ...ledger, ...attributes };
    switch (diagnostic._tag) {
      case 'RetryScheduled':
      case 'SubmissionUnclear':
        instruments.retries.add(1, { ...common, 'error.type': errorType(diagnostic.cause) });
        break;
      case 'SocketClosed':
        instruments.sockets.add(1, { ...common, 'error.type': errorType(diagnostic.cause) });
        break;
      case 'PageLimitLearned':
        // the limit belongs to the ledger, regardless of which feed reports it
        instruments.pageLimit.record(diagnostic.pageLimit, ledger);
        break;
      case 'GapFound':
        instruments.gaps.add(1, { ...common, 'error.type': errorType(diagnostic.cause) });
        break;
      case 'HandlerFailed':
        instruments.handlerFailures.add(1, { ...common, 'error.type': errorType(diagnostic.cause) });
        break;
      case 'UpdateSkipped':
        instruments.skipped.add(1, { ...common, 'error.type': errorType(diagnostic.cause) });
        break;
      case 'UpdateParked':
        instruments.parked.add(1, { ...common, 'error.type': errorType(diagnostic.cause) });
        break;
      default:
    }
  });
  // the error of a handler belongs to the program, regardless of its type
  if (diagnostic._tag !== 'HandlerFailed' && 'cause' in diagnostic && isUndecodable(diagnostic.cause))
    countUndecodable(recorder, attributes);
}

/** Counts a feed or processor that ended with an error. */
export function countFailure(recorder: Recorder, attributes: Attributes, error: unknown): void {
  const { measure, errorType } = recorder;
  measure(({ feedFailures }, ledger) => {
    feedFailures.add(1, { ...ledger, ...attributes, 'error.type': errorType(error) });
  });
  if (isUndecodable(error)) countUndecodable(recorder, attributes);
}

/** Counts a response or an update that cannot be decoded. */
export const countUndecodable = ({ measure }: Recorder, attributes: Attributes): void => {
  measure(({ undecodable }, ledger) => {
    undecodable.add(1, { ...ledger, ...attributes });
  });
};

/** Whether an error is a `DecodeError`, or an unknown outcome whose last error was one. */
export const isUndecodable = (error: unknown): boolean =>
  isDecodeError(isOutcomeUnknownError(error) ? error.lastError : error);

/**
 * Counts updates. Adds them to the meter on `flush`, because an addition for each update would cost as much as reading
 * it.
 */
interface UpdateCounter {
  readonly count: (update: Update | InvalidUpdate) => void;
  readonly flush: () => void;
}

/** Creates a counter of updates by variant and synchronizer. */
export function createUpdateCounter({ measure, synchronizerLabel }: Recorder, attributes: Attributes): UpdateCounter {
  const counts = new Map<string, { readonly by: Attributes; count: number }>();
  return {
    count: (update) => {
      const synchronizerId = synchronizerOf(update);
      const synchronizer = synchronizerId && synchronizerLabel(synchronizerId);
      const key = `${update._tag} ${synchronizer ?? ''}`;
      const entry = counts.get(key);
      if (entry !== undefined) entry.count += 1;
      else counts.set(key, { by: updateAttributes(update._tag, synchronizer), count: 1 });
    },
    flush: () => {
      measure(({ updates }, ledger) => {
        for (const { by, count } of counts.values()) updates.add(count, { ...ledger, ...attributes, ...by });
      });
      counts.clear();
    },
  };
}

/**
 * Returns the synchronizer of an update; `undefined` for a checkpoint, which concerns all synchronizers, and for an
 * unknown variant.
 */
const synchronizerOf = (update: Update | InvalidUpdate): string | undefined =>
  update._tag === 'Transaction' || update._tag === 'Reassignment' || update._tag === 'TopologyTransaction'
    ? synchronizersOf(update)[0]
    : undefined;

const updateAttributes = (variant: string, synchronizer: string | undefined): Attributes => ({
  'canton.update.variant': variant,
  ...(synchronizer !== undefined && { 'canton.synchronizer.id': synchronizer }),
});
