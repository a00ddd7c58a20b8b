import { defer, EMPTY, fromEvent, map, repeat, take, takeWhile, type Observable } from 'rxjs';
import type { Output } from '../World.js';

/** How many bytes may wait for a slow reader. */
const mostWaiting = 2 ** 20;

/**
 * Reads a feed no faster than an output is read. A feed pushes, but it can be left and resumed: when 1 MiB waits in the
 * output, the feed is unsubscribed, which aborts its request, and `read` is asked for it again when all is written. So what
 * waits is 1 MiB, the line that went beyond it, and one page of updates, however slow the reader and however long the ledger.
 *
 * @param read - the feed from where printing stands, writing what it emits
 */
export const whileRoom = (output: Output, read: () => Observable<unknown>): Observable<unknown> => {
  const isFull = (): boolean => output.writableLength >= mostWaiting;
  return defer(read).pipe(
    map(isFull),
    takeWhile((full) => !full),
    repeat({ delay: () => (isFull() ? fromEvent(output, 'drain').pipe(take(1)) : EMPTY) }),
  );
};
