import type { Writable } from 'node:stream';
import { defer, EMPTY, fromEvent, map, Observable, repeat, take, takeWhile } from 'rxjs';

/** An output of a command, possibly a terminal. */
export type Output = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** Completes when everything written so far has been passed on. */
export const flush = (output: Output): Observable<never> =>
  new Observable((subscriber) => {
    output.write('', (error) => {
      if (error) subscriber.error(error);
      else subscriber.complete();
    });
  });

/** How many bytes may wait for a slow reader. */
const maxWaitingBytes = 2 ** 20;

/**
 * Reads a feed no faster than an output is read. A feed pushes, but it can be left and resumed: when 1 MiB waits in the
 * output, this unsubscribes from the feed, which aborts its request, and calls `read` again after the output has drained. At
 * most 1 MiB, the line that exceeded it and one page of updates are in memory, however slow the reader is.
 *
 * @param read - returns the feed from the current cursor on, which writes what it emits
 */
export const withBackpressure = (output: Output, read: () => Observable<unknown>): Observable<unknown> => {
  const isFull = (): boolean => output.writableLength >= maxWaitingBytes;
  return defer(read).pipe(
    map(isFull),
    takeWhile((full) => !full),
    repeat({ delay: () => (isFull() ? fromEvent(output, 'drain').pipe(take(1)) : EMPTY) }),
  );
};
