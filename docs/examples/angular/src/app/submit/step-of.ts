import type { Diagnostic } from 'canton-rx';
import type { Step } from './run';

const awaited = 'Waiting for the outcome…';

/** The step of a submission that the participant signs. The diagnostics of its attempts do not have its command id. */
export const handedOver: Step = {
  label: 'Handed over',
  note: 'the participant signs',
  next: awaited,
  isTrouble: false,
  afterMs: 0,
};

/** The step of a submission that a diagnostic reports. The outcome is reported by the submission itself. */
export function stepOf(event: Diagnostic, startedAt: number): Step | undefined {
  const step = (label: string, note: string, next: string, isTrouble = false): Step => ({
    label,
    note,
    next,
    isTrouble,
    afterMs: Math.max(0, event.at - startedAt),
  });
  switch (event._tag) {
    case 'SubmissionPrepared':
      return step('Prepared', 'by the participant', 'Verifying…');
    case 'SubmissionVerified':
      return step('Verified', 'it is what was asked for', 'Signing…');
    case 'SubmissionSigned':
      return step('Signed', 'by the key in this browser', 'Sending…');
    case 'SubmissionSent':
      return event.attempt === 1
        ? step('Sent', '', awaited)
        : step('Asked again', `same signed bytes, try ${event.attempt}`, awaited);
    case 'SubmissionUnclear':
      return step('Unclear', `${event.cause.name}: was it done?`, 'Finding out…', true);
    default:
      return undefined;
  }
}
