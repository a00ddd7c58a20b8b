import type { Attributes } from '@opentelemetry/api';
import type { LedgerEvent } from '../events/LedgerEvent.js';

/** A step on a submission's way, as an event of its span. */
export interface SubmissionStep {
  readonly name: string;
  readonly attributes?: Attributes;
}

/** The step that an event tells of; none for what is told otherwise. */
export function stepOf(event: LedgerEvent, errorType: (error: unknown) => string): SubmissionStep | undefined {
  switch (event._tag) {
    case 'SubmissionPrepared':
      return { name: 'prepared' };
    case 'SubmissionVerified':
      return { name: 'verified' };
    case 'SubmissionSigned':
      return { name: 'signed' };
    case 'SubmissionSent':
      return { name: 'sent', attributes: { 'canton.submission.attempt': event.attempt } };
    case 'SubmissionUnclear':
      return {
        name: 'unclear',
        attributes: {
          'canton.submission.attempt': event.attempts,
          'canton_rx.delay_ms': event.delayMs,
          'error.type': errorType(event.cause),
        },
      };
    case 'RetryScheduled':
      return {
        name: 'retry',
        attributes: { 'canton_rx.delay_ms': event.delayMs, 'error.type': errorType(event.cause) },
      };
    default:
      return undefined;
  }
}
