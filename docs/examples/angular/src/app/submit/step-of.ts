import type { Diagnostic } from 'canton-rx';
import type { Step } from './run';

/** The step of a submission that a diagnostic reports. The outcome is reported by the submission itself. */
export function stepOf(event: Diagnostic, startedAt: number): Step | undefined {
  const step = (label: string, note = '', isTrouble = false): Step => ({
    label,
    note,
    isTrouble,
    afterMs: Math.max(0, event.at - startedAt),
  });
  switch (event._tag) {
    case 'SubmissionPrepared':
      return step('Prepared', 'by the participant');
    case 'SubmissionVerified':
      return step('Verified', 'it is what was asked for');
    case 'SubmissionSigned':
      return step('Signed', 'by the key in this browser');
    case 'SubmissionSent':
      return event.attempt === 1 ? step('Sent') : step('Asked again', `same signed bytes, try ${event.attempt}`);
    case 'SubmissionUnclear':
      return step('Unclear', `${event.cause.name}: was it done?`, true);
    default:
      return undefined;
  }
}
