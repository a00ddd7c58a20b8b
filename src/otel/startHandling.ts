import { SpanKind, trace, type Attributes, type Context, type Span } from '@opentelemetry/api';
import type { Work } from '../process/Handler.js';
import { linkTo } from './linkTo.js';
import type { Recorder } from './Recorder.js';

/** The span of one call of a handler: a trace of its own, linked to those of its updates and to the processor's. */
export function startHandling(
  work: Work | readonly Work[],
  home: Context,
  attributes: Attributes,
  recorder: Pick<Recorder, 'startSpan'>,
): Span {
  const updates = [work].flat();
  const [first] = updates;
  const processor = trace.getSpanContext(home);
  const isLinked = processor !== undefined && trace.isSpanContextValid(processor);
  const isBatch = Array.isArray(work);
  return recorder.startSpan(
    isBatch ? 'process updates' : 'process update',
    {
      kind: SpanKind.CONSUMER,
      root: true,
      links: [...updates.flatMap((update) => linkTo(update) ?? []), ...(isLinked ? [{ context: processor }] : [])],
      attributes: {
        ...attributes,
        ...(first !== undefined && { 'canton.offset': first.offset }),
        ...(isBatch && {
          'canton.updates.count': updates.length,
          'canton.updates.last_offset': updates.at(-1)?.offset,
        }),
        ...(!isBatch && first !== undefined && oneOf(first)),
      },
    },
    home,
  );
}

const oneOf = (update: Work): Attributes => ({
  'canton.update.variant': update._tag,
  ...('updateId' in update && { 'canton.update.id': update.updateId }),
});
