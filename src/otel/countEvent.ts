import type { Attributes } from '@opentelemetry/api';
import type { LedgerEvent } from '../events/LedgerEvent.js';
import { countUndecodable } from './countUndecodable.js';
import { isUndecodable } from './isUndecodable.js';
import type { Recorder } from './Recorder.js';

/** Counts what has happened to an operation. */
export function countEvent(recorder: Recorder, attributes: Attributes, event: LedgerEvent): void {
  const { measure, errorType } = recorder;
  measure((instruments, ledger) => {
    const common = { ...ledger, ...attributes };
    switch (event._tag) {
      case 'RetryScheduled':
      case 'SubmissionUnclear':
        instruments.retries.add(1, { ...common, 'error.type': errorType(event.cause) });
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
