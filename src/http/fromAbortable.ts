import { Observable } from 'rxjs';

/**
 * An Observable of what an abortable function promises; unsubscribing before it is settled aborts. Calls the function
 * per subscription.
 */
export const fromAbortable = <A>(start: (signal: AbortSignal) => Promise<A>): Observable<A> =>
  new Observable<A>((subscriber) => {
    const controller = new AbortController();
    let isSettled = false;
    start(controller.signal).then(
      (value) => {
        isSettled = true;
        subscriber.next(value);
        subscriber.complete();
      },
      (error: unknown) => {
        isSettled = true;
        subscriber.error(error);
      },
    );
    return () => {
      // a fetch that has failed may reject once more when it is aborted, and nobody would handle that
      if (!isSettled) controller.abort();
    };
  });
