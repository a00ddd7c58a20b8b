import { defer, from, ignoreElements, interval, isObservable, retry, tap, timer, using, type Observable } from 'rxjs';
import { HandlerError } from '../errors/HandlerError.js';
import type { Handler, Work } from '../process/Handler.js';
import type { HandlerRetry } from './completeRetry.js';

/** How a handler is called. */
export interface Handling {
  readonly handler: Handler;
  readonly policy: HandlerRetry;
  /** Says that the handler is still at it. */
  readonly beat: () => void;
  readonly beatMs: number;
  /** Called with whether a Promise is awaited, which nothing stops. */
  readonly promised: (isPending: boolean) => void;
}

/** Handles an update, and again for a while where that fails; completes when it is handled. */
export const handled = (update: Work, { handler, policy, beat, beatMs, promised }: Handling): Observable<never> =>
  defer(() => {
    const start = performance.now();
    const again = (cause: unknown, failures: number): Observable<unknown> => {
      const wait = Math.random() * Math.min(policy.maxDelayMs, policy.baseDelayMs * 2 ** (failures - 1));
      if (performance.now() + wait - start < policy.giveUpAfterMs) return timer(wait);
      throw new HandlerError(update.offset, 'updateId' in update ? update.updateId : undefined, failures, cause);
    };
    const attempt = defer(() => {
      const result = handler(update, undefined);
      if (isObservable(result)) return result;
      promised(true);
      return from(Promise.resolve(result)).pipe(
        tap({
          error: () => {
            promised(false);
          },
        }),
      );
    });
    return using(
      () =>
        interval(beatMs)
          .pipe(tap(beat))
          .subscribe({ error: () => undefined }),
      () => attempt.pipe(ignoreElements(), retry({ delay: again })),
    );
  });
