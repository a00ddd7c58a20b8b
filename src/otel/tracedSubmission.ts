import { context, SpanKind, trace, type Attributes, type Context } from '@opentelemetry/api';
import { asyncScheduler, defer, tap, type Observable } from 'rxjs';
import type { Transaction } from '../codecs/Transaction.js';
import type { Ledger } from '../ledger/Ledger.js';
import { endSubmission } from './endSubmission.js';
import { inContext } from './inContext.js';
import { operationOf } from './operationOf.js';
import { stepOf } from './stepOf.js';
import type { Tracing } from './Tracing.js';
import { safely } from './safely.js';
import type { Submitted } from './Submitted.js';

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
        const step = stepOf(event, recorder.errorType);
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
