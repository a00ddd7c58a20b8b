import { defaultIfEmpty, from, isObservable, of, takeLast, type Observable, type ObservableInput } from 'rxjs';

/**
 * Waits for what a function of the caller's returned: an Observable or a Promise until it is over, anything else not at
 * all. Throws for a list of Promises, whose failures nobody would see.
 */
export function awaited(result: unknown): Observable<unknown> {
  if (isAwaitable(result)) return from(result).pipe(takeLast(1), defaultIfEmpty(undefined));
  if (Array.isArray(result) && result.some(isAwaitable))
    throw new TypeError('the handler returned a list of Promises: return Promise.all(…) of them');
  return of(result);
}

const isAwaitable = (u: unknown): u is ObservableInput<unknown> =>
  isObservable(u) ||
  (typeof u === 'object' && u !== null && (Symbol.asyncIterator in u || ('then' in u && typeof u.then === 'function')));
