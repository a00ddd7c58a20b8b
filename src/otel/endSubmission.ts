import { SpanStatusCode, type Span } from '@opentelemetry/api';
import { countUndecodable } from './countUndecodable.js';
import { isUndecodable } from './isUndecodable.js';
import { linkTo } from './linkTo.js';
import { outcomeOf } from './outcomeOf.js';
import type { Recorder } from './Recorder.js';
import { safely } from './safely.js';
import type { Submitted } from './Submitted.js';

/** Ends the span of a submission with its outcome, linked to the trace of the transaction, and measures it. */
export function endSubmission(span: Span, submitted: Submitted, seconds: number, recorder: Recorder): void {
  const { measure, errorType } = recorder;
  const facts = {
    'canton.submission.outcome': outcomeOf(submitted),
    ...('error' in submitted && { 'error.type': errorType(submitted.error) }),
  };
  measure(({ submissions, submissionTimes }, ledger) => {
    submissions.add(1, { ...ledger, ...facts });
    submissionTimes.record(seconds, { ...ledger, ...facts });
  });
  if (isUndecodable(submitted.error)) countUndecodable(recorder, {});
  safely(() => {
    const { transaction } = submitted;
    span.setAttributes(facts);
    if ('error' in submitted) span.setStatus({ code: SpanStatusCode.ERROR });
    if (transaction === undefined) return;
    span.setAttributes({ 'canton.update.id': transaction.updateId, 'canton.offset': transaction.offset });
    const link = linkTo(transaction);
    if (link !== undefined) span.addLink(link);
  });
  safely(() => {
    span.end();
  });
}
