import { tap, type MonoTypeOperatorFunction } from 'rxjs';
import { isLedgerError } from '../errors/LedgerError.js';
import type { Feed } from './Feed.js';

/** Tells that a feed has ended before its end: it failed, or its subscriber left. */
export const tellCut = <A>({ report }: Feed): MonoTypeOperatorFunction<A> =>
  tap<A>({
    error: (error: unknown) => {
      report(() => ({ _tag: 'FeedEnded', how: 'failed', ...(isLedgerError(error) && { error }) }));
    },
    unsubscribe: () => {
      report(() => ({ _tag: 'FeedEnded', how: 'unsubscribed' }));
    },
  });
