import { from, isObservable } from 'rxjs';
import type { Client } from '../client/Client.js';
import { addedToHandler, around, inContext } from '../client/intercept.js';
import type { FeedProgress, HandlerCall, Interception, Outcome } from '../client/Interceptor.js';
import { quietly } from '../client/Scope.js';
import type { Report } from '../diagnostics/Diagnostic.js';
import { progressOf } from '../feed/progress.js';
import type { FeedItem } from './Feed.js';
import type { Committed } from './ProcessOptions.js';
import { begunOnce, isAsyncIterable, isPromise } from './Stop.js';

/** A handler of updates or of batches. */
export type AnyHandler = (work: never, tx: unknown, report?: Report) => unknown;

/** Returns the handler of a processor, within the interceptors of its client. */
export const interceptHandler = (
  client: Client | undefined,
  processor: string | undefined,
  handler: AnyHandler,
): AnyHandler =>
  client === undefined || client.scopes.length === 0
    ? handler
    : handlerWithin((call) => addedToHandler(client, () => ({ ...call(), processor })), handler);

/**
 * Returns a handler whose calls run within interceptions.
 *
 * @param addTo - returns what to add to a call
 */
export const handlerWithin =
  (addTo: (call: () => HandlerCall) => readonly Interception[], handler: AnyHandler): AnyHandler =>
  (work: FeedItem | readonly FeedItem[], tx, report) => {
    const items = [work].flat();
    const all = addTo(() => ({ items: items.map(progressOf), isBatch: Array.isArray(work) }));
    const end = (outcome: Outcome): void => {
      for (const added of [...all].reverse()) quietly(() => added.end?.(outcome));
    };
    const succeed = (): void => {
      end({ how: 'succeeded' });
    };
    const fail = (error: unknown): void => {
      end({ how: 'failed', error });
    };
    const call = all.reduceRight<() => unknown>(
      (inner, added) => () => inContext(added, 'run', inner),
      () => handler(work as never, tx, report),
    );
    try {
      const result = begunOnce(call());
      if (isObservable(result) || isAsyncIterable(result))
        return all.reduceRight((inner$, added) => around(inner$, added, { isSingle: false }), from(result));
      // the caller gets the same error
      if (isPromise(result)) void result.then(succeed, fail);
      else succeed();
      return result;
    } catch (error) {
      fail(error);
      throw error;
    }
  };

/** Returns what interceptors see of a commit. */
export const commitOf = ({ offset, recordTimes, role }: Committed): FeedProgress => ({
  _tag: 'Committed',
  offset,
  recordTimes: Object.entries(recordTimes).map(([synchronizerId, recordTime]) => ({ synchronizerId, recordTime })),
  role,
});
