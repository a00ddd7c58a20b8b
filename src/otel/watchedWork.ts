import { context, type Context } from '@opentelemetry/api';
import { from, isObservable, tap, type Observable } from 'rxjs';
import type { Work } from '../process/Handler.js';
import { inContext } from './inContext.js';

/** A handler, whatever it takes. */
export type AnyHandler = (work: Work | readonly Work[], tx: unknown) => unknown;

/** One call of a handler. */
export interface Watched {
  /** In which it works. */
  readonly inner: Context;
  /** In which what comes after it goes on. */
  readonly outer: Context;
  /** Called once, when it is over, with what it has failed with. */
  readonly end: (failure?: { readonly error: unknown }) => void;
}

/** Tells when each call of a handler begins and is over. What comes of it is what the handler returns. */
export const watchedWork =
  (handler: AnyHandler, begin: (work: Work | readonly Work[]) => Watched): AnyHandler =>
  (work, tx) => {
    const watched = begin(work);
    const { inner, end } = watched;
    try {
      const result = context.with(inner, () => handler(work, tx));
      if (isObservable(result)) return untilOver(result, watched);
      if (isIterated(result)) return untilOver(from(result), watched);
      if (isPromise(result)) return settled(result, watched);
      end();
      return result;
    } catch (error) {
      end({ error });
      throw error;
    }
  };

const untilOver = (result$: Observable<unknown>, { inner, outer, end }: Watched): Observable<unknown> =>
  result$.pipe(
    tap({
      complete: () => {
        end();
      },
      error: (error: unknown) => {
        end({ error });
      },
      unsubscribe: () => {
        end();
      },
    }),
    inContext(inner, outer),
  );

async function settled(result: PromiseLike<unknown>, { end }: Watched): Promise<unknown> {
  try {
    const value = await result;
    end();
    return value;
  } catch (error) {
    end({ error });
    throw error;
  }
}

const isIterated = (u: unknown): u is AsyncIterable<unknown> =>
  typeof u === 'object' && u !== null && Symbol.asyncIterator in u;

const isPromise = (u: unknown): u is PromiseLike<unknown> =>
  typeof u === 'object' && u !== null && 'then' in u && typeof u.then === 'function';
