import { type Attributes, context, type SpanOptions, SpanKind, trace, type Context } from '@opentelemetry/api';
import type { OperationInterception, RuleAction, SubmissionCall, SubmissionOutcome } from '../client/Interceptor.js';
import { countDiagnostic, countUndecodable } from '../diagnostics/metrics.js';
import type { Diagnostic } from '../diagnostics/Diagnostic.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { stopwatch } from '../http/clock.js';
import { endSpan, type Recorder, safely } from './Recorder.js';
import { traceParts, type Tracing } from './requests.js';
import { between, linkTo, linksToActive } from './traceContext.js';

/** The names of the spans of submissions, by method of the ledger. */
const names = {
  submit: 'submit',
  submitAndWaitForTransaction: 'submit commands',
  executeAndWaitForTransaction: 'execute',
} as const;

/** Starts the span of a submission, in which its requests, its verifiers and its signers run, and measures its outcome. */
export function traceSubmission(
  tracing: Tracing,
  { method, commandId, action }: SubmissionCall,
): OperationInterception<SubmissionOutcome> {
  const { recorder } = tracing;
  const outer = context.active();
  const options = action === undefined ? { attributes: {} } : actionOptions(action, outer);
  const attributes = { 'canton.command.id': commandId, ...options.attributes };
  const name = action === undefined ? names[method] : `act ${action.rule}`;
  const span = recorder.startSpan(name, { kind: SpanKind.INTERNAL, ...options, attributes }, outer);
  const inner = trace.setSpan(outer, span);
  const tookMs = stopwatch();
  return {
    ...traceParts(tracing, { context: () => inner, isFeed: false }),
    report: (diagnostic) => {
      countDiagnostic(recorder, diagnostic);
      const event = spanEvents[diagnostic._tag];
      if (event !== undefined) span.addEvent(event, eventAttributes(diagnostic, recorder));
      if ('submissionId' in diagnostic) span.setAttribute('canton.submission.id', diagnostic.submissionId);
    },
    ...between(inner, outer),
    end: (outcome) => {
      const { transaction, error } = outcome;
      const result = {
        'canton.submission.outcome': outcomeOf(outcome),
        ...(outcome.how === 'failed' && { 'error.type': recorder.errorType(error) }),
      };
      recorder.measure('submissions', 1, result);
      recorder.measure('submission.duration', tookMs() / 1_000, result);
      countUndecodable(recorder, {}, error);
      if (transaction === undefined) {
        endSpan(span, result);
        return;
      }
      const link = linkTo(transaction);
      if (link !== undefined) safely(() => span.addLink(link));
      endSpan(span, { ...result, 'canton.update.id': transaction.updateId, 'canton.offset': transaction.offset });
    },
  };
}

/** The span of an action: in a separate trace, because a rule has no end, linked to those of its contract and of the rule. */
function actionOptions(action: RuleAction, outer: Context): SpanOptions {
  return {
    root: true,
    links: [linkTo(action) ?? [], ...linksToActive(outer)].flat(),
    attributes: { 'canton_rx.rule.name': action.rule, 'canton.contract.id': action.contractId },
  };
}

/** The events in the span of a submission, by diagnostic. */
const spanEvents: Readonly<Partial<Record<Diagnostic['_tag'], string>>> = {
  SubmissionPrepared: 'prepared',
  SubmissionVerified: 'verified',
  SubmissionSigned: 'signed',
  SubmissionSent: 'sent',
  SubmissionUnclear: 'unclear',
  RetryScheduled: 'retry',
};

const eventAttributes = (diagnostic: Diagnostic, recorder: Recorder): Attributes => ({
  ...(diagnostic._tag === 'SubmissionSent' && { 'canton.submission.attempt': diagnostic.attempt }),
  ...(diagnostic._tag === 'SubmissionUnclear' && { 'canton.submission.attempt': diagnostic.attempts }),
  ...('cause' in diagnostic && { 'error.type': recorder.errorType(diagnostic.cause) }),
  ...('delayMs' in diagnostic && { 'canton_rx.delay_ms': diagnostic.delayMs }),
});

/** The values of `canton.submission.outcome`, by error. */
const outcomes: Readonly<Partial<Record<string, string>>> = {
  SubmissionRejectedError: 'rejected',
  SubmissionExpiredError: 'expired',
  OutcomeUnknownError: 'unknown',
  NotSentError: 'not_sent',
  VerificationError: 'not_verified',
};

/** Returns the value of `canton.submission.outcome`; `failed` for any other error, such as the error of a signer. */
function outcomeOf({ how, error }: SubmissionOutcome): string {
  if (how === 'succeeded') return 'committed';
  if (how === 'unsubscribed') return 'abandoned';
  return (isLedgerError(error) ? outcomes[error._tag] : undefined) ?? 'failed';
}
