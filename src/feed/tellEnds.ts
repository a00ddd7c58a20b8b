import { tap, type MonoTypeOperatorFunction } from 'rxjs';
import { isLedgerError } from '../errors/LedgerError.js';
import type { Feed } from './Feed.js';

/** Tells of a feed's start and of its end. */
export const tellEnds = <A>({ request, report }: Feed): MonoTypeOperatorFunction<A> => {
  const { beginExclusive, endInclusive } = request;
  return tap<A>({
    subscribe: () => {
      report(() => ({
        _tag: 'FeedStarted',
        beginExclusive,
        ...(typeof endInclusive === 'number' && { endInclusive }),
      }));
    },
    complete: () => {
      report(() => ({ _tag: 'FeedEnded', how: 'completed' }));
    },
    error: (error: unknown) => {
      report(() => ({ _tag: 'FeedEnded', how: 'failed', ...(isLedgerError(error) && { error }) }));
    },
    unsubscribe: () => {
      report(() => ({ _tag: 'FeedEnded', how: 'unsubscribed' }));
    },
  });
};
