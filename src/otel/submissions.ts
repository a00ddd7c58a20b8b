import { type Attributes, context, type Context, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { defer, type Observable, tap } from 'rxjs';
import type { Transaction } from '../codecs/Transaction.js';
import type { Diagnostic } from '../diagnostics/Diagnostic.js';
import { isLedgerError } from '../errors/LedgerError.js';
import type { Ledger } from '../ledger/Ledger.js';
import { countUndecodable, isUndecodable } from './counting.js';
import { createOperation, type Tracing } from './Operation.js';
import { once, type Recorder, safely, stopwatch } from './Recorder.js';
import { inContext, linkTo } from './traceContext.js';

/** The result of a submission. It has neither field if its subscriber unsubscribed before the outcome. */
interface SubmissionResult {
  readonly transaction?: Transaction;
  readonly error?: unknown;
}

/**
 * Returns a submission with telemetry. All its subscriptions share one operation, because a submission that may have
 * been committed is repeated unchanged by the next subscription. Of concurrent subscriptions, the latest has the
 * requests in its trace.
 */
export function tracedSubmission(
  tracing: Tracing,
  name: string,
  attributes: Attributes,
  submission: (ledger: Ledger) => Observable<Transaction>,
): Observable<Transaction> {
  const { ledgerFor, recorder } = tracing;
  let inner: Context | undefined;
  const operation = createOperation(tracing, {
    context: () => inner ?? context.active(),
    onDiagnostic: (diagnostic) => {
      safely(() => {
        const span = inner && trace.getSpan(inner);
        const step = submissionSpanEvent(diagnostic, recorder.errorType);
        if (step !== undefined) span?.addEvent(step.name, step.attributes);
        if ('submissionId' in diagnostic) span?.setAttribute('canton.submission.id', diagnostic.submissionId);
      });
    },
  });
  const transaction$ = submission(ledgerFor(operation));
  return defer(() => {
    const outer = context.active();
    const span = recorder.startSpan(
      name,
      { kind: SpanKind.INTERNAL, attributes: { ...recorder.ledger, ...attributes } },
      outer,
    );
    inner = trace.setSpan(outer, span);
    const elapsed = stopwatch();
    // once, because a subscriber may unsubscribe when it receives the transaction
    const end = once((result: SubmissionResult) => {
      endSubmissionSpan(span, result, elapsed(), recorder);
    });
    return transaction$.pipe(
      tap({
        next: (transaction) => {
          end({ transaction });
        },
        error: (error: unknown) => {
          end({ error });
        },
        unsubscribe: () => {
          end({});
        },
      }),
      inContext(inner, outer),
    );
  });
}

/** An event in the span of a submission. */
interface SpanEvent {
  readonly name: string;
  readonly attributes?: Attributes;
}

/** Returns the span event of a diagnostic, if it is a step of the submission. */
function submissionSpanEvent(diagnostic: Diagnostic, errorType: (error: unknown) => string): SpanEvent | undefined {
  switch (diagnostic._tag) {
    case 'SubmissionPrepared':
      return { name: 'prepared' };
    case 'SubmissionVerified':
      return { name: 'verified' };
    case 'SubmissionSigned':
      return { name: 'signed' };
    case 'SubmissionSent':
      return { name: 'sent', attributes: { 'canton.submission.attempt': diagnostic.attempt } };
    case 'SubmissionUnclear':
      return {
        name: 'unclear',
        attributes: {
          'canton.submission.attempt': diagnostic.attempts,
          'canton_rx.delay_ms': diagnostic.delayMs,
          'error.type': errorType(diagnostic.cause),
        },
      };
    case 'RetryScheduled':
      return {
        name: 'retry',
        attributes: { 'canton_rx.delay_ms': diagnostic.delayMs, 'error.type': errorType(diagnostic.cause) },
      };
    default:
      return undefined;
  }
}

/** Ends the span of a submission with its outcome and a link to the trace of the transaction, and measures it. */
function endSubmissionSpan(span: Span, result: SubmissionResult, seconds: number, recorder: Recorder): void {
  const { measure, errorType } = recorder;
  const attributes = {
    'canton.submission.outcome': outcomeOf(result),
    ...('error' in result && { 'error.type': errorType(result.error) }),
  };
  measure(({ submissions, submissionTimes }, ledger) => {
    submissions.add(1, { ...ledger, ...attributes });
    submissionTimes.record(seconds, { ...ledger, ...attributes });
  });
  if (isUndecodable(result.error)) countUndecodable(recorder, {});
  safely(() => {
    const { transaction } = result;
    span.setAttributes(attributes);
    if ('error' in result) span.setStatus({ code: SpanStatusCode.ERROR });
    if (transaction === undefined) return;
    span.setAttributes({ 'canton.update.id': transaction.updateId, 'canton.offset': transaction.offset });
    const link = linkTo(transaction);
    if (link !== undefined) span.addLink(link);
  });
  safely(() => {
    span.end();
  });
}

/** Returns the value of `canton.submission.outcome`; `failed` for any other error, such as the error of a signer. */
function outcomeOf(result: SubmissionResult): string {
  const { error, transaction } = result;
  if (transaction !== undefined) return 'committed';
  if (!('error' in result)) return 'abandoned';
  if (!isLedgerError(error)) return 'failed';
  switch (error._tag) {
    case 'SubmissionRejectedError':
      return 'rejected';
    case 'SubmissionExpiredError':
      return 'expired';
    case 'OutcomeUnknownError':
      return 'unknown';
    case 'NotSentError':
      return 'not_sent';
    case 'VerificationError':
      return 'not_verified';
    default:
      return 'failed';
  }
}
