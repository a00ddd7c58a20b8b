import type { Attributes } from '@opentelemetry/api';
import type { Diagnostic } from '../diagnostics/Diagnostic.js';
import { isDecodeError } from '../errors/feed.js';
import { isOutcomeUnknownError } from '../errors/submission.js';
import type { Recorder } from './Recorder.js';

/** Counts what does not decode. */
export const countUndecodable = ({ measure }: Recorder, attributes: Attributes): void => {
  measure(({ undecodable }, ledger) => {
    undecodable.add(1, { ...ledger, ...attributes });
  });
};

/** Whether an error is one of decoding, or says that the last thing that was heard was one. */
export const isUndecodable = (error: unknown): boolean =>
  isDecodeError(isOutcomeUnknownError(error) ? error.lastError : error);

/** Counts what has happened to an operation. */
export function countEvent(recorder: Recorder, attributes: Attributes, event: Diagnostic): void {
  const { measure, errorType } = recorder;
  measure((instruments, ledger) => {
    const common = { ...ledger, ...attributes };
    switch (event._tag) {
      case 'RetryScheduled':
      case 'SubmissionUnclear':
        instruments.retries.add(1, { ...common, 'error.type': errorType(event.cause) });
        break;
      case 'SocketClosed':
        instruments.sockets.add(1, { ...common, 'error.type': errorType(event.cause) });
        break;
      case 'PageLimitLearned':
        // of the ledger, whichever of its feeds has learned it
        instruments.pageLimit.record(event.pageLimit, ledger);
        break;
      case 'GapFound':
        instruments.gaps.add(1, { ...common, 'error.type': errorType(event.cause) });
        break;
      case 'HandlerFailed':
        instruments.handlerFailures.add(1, { ...common, 'error.type': errorType(event.cause) });
        break;
      case 'UpdateSkipped':
        instruments.skipped.add(1, { ...common, 'error.type': errorType(event.cause) });
        break;
      case 'UpdateParked':
        instruments.parked.add(1, { ...common, 'error.type': errorType(event.cause) });
        break;
      default:
    }
  });
  const isDecoding = event._tag !== 'HandlerFailed' && 'cause' in event && isUndecodable(event.cause);
  if (isDecoding) countUndecodable(recorder, attributes);
}

/** Counts a feed or a processor that has ended with an error. */
export function countFailure(recorder: Recorder, attributes: Attributes, error: unknown): void {
  const { measure, errorType } = recorder;
  measure(({ feedFailures }, ledger) => {
    feedFailures.add(1, { ...ledger, ...attributes, 'error.type': errorType(error) });
  });
  if (isUndecodable(error)) countUndecodable(recorder, attributes);
}
