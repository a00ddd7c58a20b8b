import type { Writable } from 'node:stream';
import {
  defer,
  EMPTY,
  fromEvent,
  ignoreElements,
  map,
  Observable,
  of,
  repeat,
  switchMap,
  take,
  takeWhile,
  timer,
} from 'rxjs';

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

/** Emits once when an output takes more: at once, or when a slow reader has read what waits for it. */
export const ready = (output: Output): Observable<unknown> =>
  defer(() => (isFull(output) ? fromEvent(output, 'drain').pipe(take(1)) : of(true)));

const isFull = ({ writableLength }: Output): boolean => writableLength >= maxWaitingBytes;

/** How much is written at once, in characters. */
const chunkSize = 2 ** 18;

/**
 * Writes texts no faster than an output is read, and completes when all are written. Takes a text only when it is needed,
 * so that a generator of a million rows needs the memory of a few. Signals are handled in between.
 */
export const writeAll = (output: Output, texts: Iterable<string>): Observable<never> =>
  defer(() => {
    const iterator = texts[Symbol.iterator]();
    const writeChunk = (): boolean => {
      let chunk = '';
      while (chunk.length < chunkSize) {
        const next = iterator.next();
        if (next.done === true) {
          if (chunk !== '') output.write(chunk);
          return true;
        }
        chunk += next.value;
      }
      output.write(chunk);
      return false;
    };
    return defer(() => of(writeChunk())).pipe(
      repeat({ delay: () => timer(0).pipe(switchMap(() => ready(output))) }),
      takeWhile((isDone) => !isDone),
      ignoreElements(),
    );
  });

/**
 * Reads a feed no faster than an output is read. A feed pushes, but it can be left and resumed: when 1 MiB waits in the
 * output, this unsubscribes from the feed, which aborts its request, and calls `read` again after the output has drained. At
 * most 1 MiB, the line that exceeded it and one page of updates are in memory, however slow the reader is.
 *
 * @param read - returns the feed from the current cursor on, which writes what it emits
 */
export const withBackpressure = (output: Output, read: () => Observable<unknown>): Observable<unknown> =>
  defer(read).pipe(
    map(() => isFull(output)),
    takeWhile((full) => !full),
    repeat({ delay: () => (isFull(output) ? ready(output) : EMPTY) }),
  );
