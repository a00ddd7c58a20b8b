import { defaultIfEmpty, from, isObservable, of, takeLast, type Observable, type ObservableInput } from 'rxjs';

/** Waits for what a function of the caller's returned: an Observable or a Promise until it is over, anything else not at all. */
export const awaited = (result: unknown): Observable<unknown> =>
  isAwaitable(result) ? from(result).pipe(takeLast(1), defaultIfEmpty(undefined)) : of(result);

const isAwaitable = (u: unknown): u is ObservableInput<unknown> =>
  isObservable(u) ||
  (typeof u === 'object' && u !== null && (Symbol.asyncIterator in u || ('then' in u && typeof u.then === 'function')));
