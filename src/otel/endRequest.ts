import { SpanStatusCode, type Attributes, type Span } from '@opentelemetry/api';
import type { Call } from '../http/exchange.js';
import type { Answered } from './Answered.js';
import { isPoll } from './isPoll.js';
import type { Operation } from './Operation.js';
import { pageAttributes } from './pageAttributes.js';
import type { Recorder } from './Recorder.js';
import { safely } from './safely.js';

/** Ends the span of a request, and measures it. */
export function endRequest(
  span: Span,
  call: Call,
  answered: Answered,
  seconds: number,
  { attributes }: Operation,
  { measure, errorType }: Recorder,
): void {
  const { status } = answered;
  const facts: Attributes = {
    ...(status !== undefined && { 'http.response.status_code': status }),
    ...('error' in answered && { 'error.type': errorType(answered.error) }),
  };
  const page = isPoll(call) && 'json' in answered ? pageAttributes(answered.json) : {};
  const result = resultOf(answered, page['canton.updates.count']);
  measure(({ requests, polls }, ledger) => {
    const common = { ...ledger, ...attributes, 'url.template': call.path, ...facts };
    requests.record(seconds, { 'http.request.method': call.method, ...common, 'canton_rx.result': result });
    if (isPoll(call)) polls.add(1, { ...common, 'canton_rx.result': result });
  });
  safely(() => {
    span.setAttributes({ ...facts, ...page, 'canton_rx.result': result });
    if (result === 'failed') span.setStatus({ code: SpanStatusCode.ERROR });
  });
  safely(() => {
    span.end();
  });
}

function resultOf(answered: Answered, count: unknown): 'failed' | 'empty' | 'answered' | 'aborted' {
  if ('error' in answered) return 'failed';
  if ('json' in answered) return count === 0 ? 'empty' : 'answered';
  return 'aborted';
}
