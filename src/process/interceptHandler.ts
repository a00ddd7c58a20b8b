import { from, isObservable } from 'rxjs';
import type { Client } from '../client/Client.js';
import { addedToHandler, around, inContext } from '../client/intercept.js';
import type { FeedProgress, HandlerCall, Interception, Outcome } from '../client/Interceptor.js';
import type { Report } from '../diagnostics/Diagnostic.js';
import { quietly } from '../errors/quietly.js';
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
    let hasEnded = false;
    const end = (outcome: Outcome): void => {
      if (hasEnded) return;
      hasEnded = true;
      for (const added of [...all].reverse()) quietly(() => added.end?.(outcome));
    };
    const succeed = (): void => {
      end({ how: 'succeeded' });
    };
    const fail = (error: unknown): void => {
      end({ how: 'failed', error });
    };
    const within = <A>(inner: () => A): A =>
      all.reduceRight<() => A>((call, added) => () => inContext(added, 'run', call), inner)();
    try {
      const result = begunOnce(within(() => handler(work as never, tx, report)));
      if (isObservable(result))
        return all.reduceRight((inner$, added) => around(inner$, added, { isSingle: false }), from(result));
      if (isAsyncIterable(result)) return iterableWithin(result, within, end);
      // the caller gets the same error
      if (isPromise(result)) void result.then(succeed, fail);
      else succeed();
      return result;
    } catch (error) {
      fail(error);
      throw error;
    }
  };

/**
 * Returns the same values, each of which is read within interceptions. It stays an iterable: one that is given up may still work
 * until it gives its next value, and the processor holds its name until then.
 *
 * @param end - takes the outcome, and only the first one
 */
const iterableWithin = (
  values: AsyncIterable<unknown>,
  within: <A>(inner: () => A) => A,
  end: (outcome: Outcome) => void,
): AsyncIterable<unknown> => ({
  [Symbol.asyncIterator]: () => {
    const iterator = within(() => values[Symbol.asyncIterator]());
    return {
      next: async () => {
        try {
          const result = await within(() => iterator.next());
          if (result.done === true) end({ how: 'completed' });
          return result;
        } catch (error) {
          end({ how: 'failed', error });
          throw error;
        }
      },
      return: async () => {
        try {
          await within(() => iterator.return?.());
        } finally {
          end({ how: 'unsubscribed' });
        }
        return { done: true, value: undefined };
      },
    };
  },
});

/** Returns what interceptors see of a commit. */
export const commitOf = ({ offset, recordTimes, role }: Committed): FeedProgress => ({
  _tag: 'Committed',
  offset,
  recordTimes: Object.entries(recordTimes).map(([synchronizerId, recordTime]) => ({ synchronizerId, recordTime })),
  role,
});
