import { tap, type MonoTypeOperatorFunction } from 'rxjs';
import type { Feed } from './Feed.js';
import { tellCut } from './tellCut.js';

/** Tells of a feed's start and of its end. */
export const tellEnds =
  <A>(feed: Feed): MonoTypeOperatorFunction<A> =>
  (source) => {
    const { request, report } = feed;
    const { beginExclusive, endInclusive } = request;
    return source.pipe(
      tap<A>({
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
      }),
      tellCut(feed),
    );
  };
