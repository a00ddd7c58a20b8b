import { SpanStatusCode, trace, type Attributes, type Context } from '@opentelemetry/api';
import type { Work } from '../process/Handler.js';
import { errorTypeOf } from './errorTypeOf.js';
import type { Recorder } from './Recorder.js';
import { safely } from './safely.js';
import { startHandling } from './startHandling.js';
import type { Watched } from './watchedWork.js';

/** Gives a call of a handler a span. */
export function handlingSpan(
  work: Work | readonly Work[],
  home: Context,
  attributes: Attributes,
  recorder: Pick<Recorder, 'startSpan'>,
): Watched {
  const span = startHandling(work, home, attributes, recorder);
  return {
    inner: trace.setSpan(home, span),
    outer: home,
    end: (failure) => {
      safely(() => {
        if (failure === undefined) return;
        span.setAttribute('error.type', errorTypeOf(failure.error));
        span.setStatus({ code: SpanStatusCode.ERROR });
      });
      safely(() => {
        span.end();
      });
    },
  };
}
