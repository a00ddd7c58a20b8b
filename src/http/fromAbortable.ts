import { Observable } from 'rxjs';

/** An Observable of what an abortable function promises; unsubscribing aborts. Calls the function per subscription. */
export const fromAbortable = <A>(start: (signal: AbortSignal) => Promise<A>): Observable<A> =>
  new Observable<A>((subscriber) => {
    const controller = new AbortController();
    start(controller.signal).then(
      (value) => {
        subscriber.next(value);
        subscriber.complete();
      },
      (error: unknown) => {
        subscriber.error(error);
      },
    );
    return () => {
      controller.abort();
    };
  });
