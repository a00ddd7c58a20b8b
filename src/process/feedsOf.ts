import type { Offset } from '../codecs/Offset.js';
import { UpdatesRequest } from '../codecs/UpdatesRequest.js';
import { InvalidRequestError } from '../errors/InvalidRequestError.js';
import { reportTo } from '../events/Report.js';
import type { Feed } from '../feed/Feed.js';
import { feedOf } from '../feed/feedOf.js';
import type { Service } from '../feed/Service.js';
import { checked } from '../http/checked.js';
import type { RetryPolicy } from '../http/RetryPolicy.js';
import type { AnyProcessOptions } from './ProcessOptions.js';

/**
 * The feeds of a processor: of what its request selects, from an offset on. One range at a time: what is read ahead beyond
 * the next page would wait in memory for a handler that is slow.
 */
export function feedsOf(
  service: Service,
  request: UpdatesRequest,
  options: AnyProcessOptions,
  ledgerRetry: RetryPolicy | undefined,
): (from?: Offset) => Feed {
  const range = checked(UpdatesRequest, request);
  if (range.descendingOrder === true)
    throw new InvalidRequestError([{ path: 'descendingOrder', expected: 'false for a processor' }]);
  const onInvalid = (options.onPoison ?? 'stop') === 'stop' ? 'fail' : 'emit';
  // one feed to whoever watches: it asks where to begin, and then reads from there
  const report = reportTo(service.events, (service.feeds += 1));
  return (from = range.beginExclusive) => {
    const { endInclusive } = range;
    const rest = {
      ...range,
      beginExclusive: from,
      ...(typeof endInclusive === 'number' && { endInclusive: Math.max(endInclusive, from) }),
    };
    // nor is it pushed anything, whatever else stands in the options
    return feedOf(service, rest, { ...options, transport: 'http', parallelRanges: 1, onInvalid }, ledgerRetry, report);
  };
}
