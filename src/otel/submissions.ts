import { type Attributes, context, type Context, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { asyncScheduler, defer, type Observable, tap } from 'rxjs';
import type { Transaction } from '../codecs/Transaction.js';
import type { Diagnostic } from '../diagnostics/Diagnostic.js';
import { isLedgerError } from '../errors/LedgerError.js';
import type { Ledger } from '../ledger/Ledger.js';
import { countUndecodable, isUndecodable } from './counting.js';
import { operationOf, type Tracing } from './Operation.js';
import { type Recorder, safely } from './Recorder.js';
import { inContext, linkTo } from './traceContext.js';

/** What has come of a submission; nothing where its subscriber has left. */
interface Submitted {
  readonly transaction?: Transaction;
  readonly error?: unknown;
}

/**
 * A submission to a ledger that is traced. It keeps from one subscription to the next what may have been committed, so that
 * it is made once; of subscriptions at the same time, the latest gets the requests in its trace.
 */
export function tracedSubmission(
  tracing: Tracing,
  name: string,
  attributes: Attributes,
  submission: (ledger: Ledger) => Observable<Transaction>,
): Observable<Transaction> {
  const { ledgerFor, recorder } = tracing;
  let inner: Context | undefined;
  const operation = operationOf(tracing, {
    context: () => inner ?? context.active(),
    told: (event) => {
      safely(() => {
        const span = inner && trace.getSpan(inner);
        const step = submissionSpanEvent(event, recorder.errorType);
        if (step !== undefined) span?.addEvent(step.name, step.attributes);
        if ('submissionId' in event) span?.setAttribute('canton.submission.id', event.submissionId);
      });
    },
  });
  const transaction$ = submission(ledgerFor(operation));
  return defer(() => {
    const home = context.active();
    const span = recorder.startSpan(
      name,
      { kind: SpanKind.INTERNAL, attributes: { ...recorder.ledger, ...attributes } },
      home,
    );
    inner = trace.setSpan(home, span);
    const startedAt = asyncScheduler.now();
    let isOver = false;
    const end = (submitted: Submitted): void => {
      // who takes the transaction may leave at once
      if (isOver) return;
      isOver = true;
      endSubmission(span, submitted, Math.max(0, asyncScheduler.now() - startedAt) / 1_000, recorder);
    };
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
      inContext(inner, home),
    );
  });
}

/** A step on a submission's way, as an event of its span. */
interface SubmissionStep {
  readonly name: string;
  readonly attributes?: Attributes;
}

/** The step that an event tells of; none for what is told otherwise. */
function submissionSpanEvent(event: Diagnostic, errorType: (error: unknown) => string): SubmissionStep | undefined {
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

/** Ends the span of a submission with its outcome, linked to the trace of the transaction, and measures it. */
function endSubmission(span: Span, submitted: Submitted, seconds: number, recorder: Recorder): void {
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

/** What became of a submission, for a span and a meter: `failed` is of what was not sent, or not heard. */
function outcomeOf(submitted: Submitted): string {
  const { error, transaction } = submitted;
  if (transaction !== undefined) return 'committed';
  if (!('error' in submitted)) return 'abandoned';
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
