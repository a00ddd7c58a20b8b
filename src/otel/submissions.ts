import { type Attributes, context, type Context, SpanKind, type SpanOptions, trace } from '@opentelemetry/api';
import { defer, type Observable } from 'rxjs';
import type { SubmittedTransaction } from '../codecs/Transaction.js';
import type { Diagnostic } from '../diagnostics/Diagnostic.js';
import { isLedgerError } from '../errors/LedgerError.js';
import type { RuleAction } from '../ledger/connection.js';
import type { Ledger } from '../ledger/Ledger.js';
import { countUndecodable } from './metrics.js';
import { endSpan, type Recorder, safely, stopwatch } from './Recorder.js';
import type { Tracing } from './requests.js';
import { inContext, linkTo, onOutcome, type Outcome } from './traceContext.js';

/**
 * Returns a submission with telemetry. All its subscriptions share one ledger, because a submission that may have been
 * committed is repeated unchanged by the next subscription. Of concurrent subscriptions, the latest has the requests in
 * its trace.
 */
export function traceSubmission(
  { ledgerFor, recorder }: Tracing,
  name: string,
  attributes: Attributes,
  submit: (ledger: Ledger) => Observable<SubmittedTransaction>,
  action?: RuleAction,
): Observable<SubmittedTransaction> {
  let inner: Context | undefined;
  const sender = { context: () => inner ?? context.active(), isFeed: false, attributes: {} };
  const onDiagnostic = (diagnostic: Diagnostic): void => {
    const span = inner && trace.getSpan(inner);
    const event = spanEvents[diagnostic._tag];
    if (event !== undefined) span?.addEvent(event, eventAttributes(diagnostic, recorder));
    if ('submissionId' in diagnostic) span?.setAttribute('canton.submission.id', diagnostic.submissionId);
  };
  const transaction$ = submit(ledgerFor(sender, onDiagnostic));
  return defer(() => {
    const outer = context.active();
    const span = recorder.startSpan(
      name,
      { kind: SpanKind.INTERNAL, attributes, ...(action && actionOptions(action, attributes, outer)) },
      outer,
    );
    inner = trace.setSpan(outer, span);
    const elapsed = stopwatch();
    return transaction$.pipe(
      onOutcome((outcome) => {
        const { value: transaction, error } = outcome;
        const result = {
          'canton.submission.outcome': outcomeOf(outcome),
          ...(outcome.how === 'failed' && { 'error.type': recorder.errorType(error) }),
        };
        recorder.measure('submissions', 1, result);
        recorder.measure('submission.duration', elapsed(), result);
        countUndecodable(recorder, {}, error);
        if (transaction === undefined) {
          endSpan(span, result);
          return;
        }
        const link = linkTo(transaction);
        if (link !== undefined) safely(() => span.addLink(link));
        endSpan(span, { ...result, 'canton.update.id': transaction.updateId, 'canton.offset': transaction.offset });
      }),
      inContext(inner, outer),
    );
  });
}

/** The span of an action: in a separate trace, because a rule has no end, linked to those of its contract and of the rule. */
function actionOptions(action: RuleAction, attributes: Attributes, outer: Context): SpanOptions {
  const active = trace.getSpanContext(outer);
  const subscriber = active !== undefined && trace.isSpanContextValid(active) ? [{ context: active }] : [];
  return {
    root: true,
    links: [linkTo(action) ?? [], subscriber].flat(),
    attributes: { ...attributes, 'canton_rx.rule.name': action.rule, 'canton.contract.id': action.contractId },
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

const eventAttributes = (diagnostic: Diagnostic, { errorType }: Recorder): Attributes => ({
  ...(diagnostic._tag === 'SubmissionSent' && { 'canton.submission.attempt': diagnostic.attempt }),
  ...(diagnostic._tag === 'SubmissionUnclear' && { 'canton.submission.attempt': diagnostic.attempts }),
  ...('cause' in diagnostic && { 'error.type': errorType(diagnostic.cause) }),
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
function outcomeOf({ how, error }: Outcome<SubmittedTransaction>): string {
  if (how === 'succeeded') return 'committed';
  if (how === 'unsubscribed') return 'abandoned';
  return (isLedgerError(error) ? outcomes[error._tag] : undefined) ?? 'failed';
}
