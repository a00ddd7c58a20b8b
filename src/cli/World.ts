import type { EventEmitter } from 'node:events';
import type { Writable } from 'node:stream';
import { types } from 'node:util';
import {
  catchError,
  defer,
  EMPTY,
  endWith,
  filter,
  fromEvent,
  ignoreElements,
  map,
  merge,
  mergeMap,
  Observable,
  of,
  repeat,
  switchMap,
  take,
  takeWhile,
  timer,
} from 'rxjs';
import { cut, escapeText } from '../errors/escapeText.js';

/** An output of a command, possibly a terminal. */
export type Output = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** The environment of a command apart from the ledger: the process, or a replacement in tests. */
export interface World {
  /** The arguments, without node and the script. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly signals: Signals;
}

/** Emits `SIGINT`, `SIGTERM` and `SIGHUP`. */
type Signals = Pick<EventEmitter, 'addListener' | 'removeListener'>;

/**
 * Emits on Ctrl-C, and when a supervisor or the end of the terminal ends the process. Removes its listeners on unsubscription, so that a second Ctrl-C
 * ends a process that is slow to stop.
 */
export const interruptions = (signals: Signals): Observable<unknown> =>
  merge(...['SIGINT', 'SIGTERM', 'SIGHUP'].map((signal) => fromEvent(signals, signal)));

/** An error or a notice as every command writes it to stderr: safe for a terminal, with the lines that the message has. */
export const errorLine = (message: string): string =>
  `canton-rx: ${message
    .split('\n')
    .map((line) => escapeText(cut(line, maxLineLength)))
    .join('\n')}\n`;

/** The longest line of a message, in UTF-16 units. */
const maxLineLength = 20_000;

/**
 * The message of an error without its stack, which does not help the user of a command. Only errors of this library have
 * several lines: those of others may quote text that looks like a line of a command.
 */
export function messageOf(error: unknown): string {
  if (!types.isNativeError(error)) return 'unknown error';
  return '_tag' in error ? error.message : escapeText(cut(error.message, maxLineLength));
}

/** Why an operation on a file failed, without the path; `undefined` for an error that is not of the system. */
export const systemReason = (error: unknown): string | undefined =>
  types.isNativeError(error) && 'syscall' in error ? error.message.split(', ')[0] : undefined;

/** Whether an error of the system or of Node.js has this code. */
export const hasCode = (error: unknown, code: string): boolean =>
  types.isNativeError(error) && 'code' in error && error.code === code;

/** Completes when everything written so far has been passed on. */
const flush = (output: Output): Observable<never> =>
  new Observable((subscriber) => {
    output.write('', (error) => {
      if (error) subscriber.error(error);
      else subscriber.complete();
    });
  });

/** How many bytes may wait for a slow reader. */
const maxWaitingBytes = 2 ** 20;

/** Emits once when an output takes more: at once, or when a slow reader has read what waits for it. */
const ready = (output: Output): Observable<unknown> =>
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

/** How a command that prints ended: by itself, by a signal, by a closed or an unwritable stdout, or by an error. */
export type Outcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'closed' }
  | { readonly kind: 'unwritable'; readonly error: unknown }
  | { readonly kind: 'failed'; readonly error: unknown };

/**
 * Runs a command that prints until it completes or fails, a signal arrives or stdout closes. Emits how it ended, once, when
 * stdout has passed on what was written: only then is it printed.
 *
 * @param shown$ - what runs meanwhile, such as a status line; it never completes
 */
export function runToEnd(
  { stdout, signals }: Pick<World, 'stdout' | 'signals'>,
  printed$: Observable<unknown>,
  shown$: Observable<unknown> = EMPTY,
): Observable<Outcome> {
  const broken$ = fromEvent(stdout, 'error').pipe(map(outputOutcome));
  const interrupted$ = interruptions(signals).pipe(map((): Outcome => ({ kind: 'interrupted' })));
  return merge(broken$, interrupted$, outcomeOf(printed$), shown$.pipe(ignoreElements())).pipe(
    take(1),
    mergeMap((outcome) => finish(outcome, stdout)),
  );
}

/** The exit code that shells use after Ctrl-C: an output that is not complete must not look like one that is. */
export const interruptedCode = 130;

/**
 * Prints a result and emits the exit code: that of the result, or another one with a notice if stdout cannot be written.
 */
export const printResult = (
  world: World,
  text: string,
  code: number,
  unwritten: { readonly code: number; readonly notice: string } = { code: 1, notice: '' },
): Observable<number> =>
  runToEnd(world, writeAll(world.stdout, [text])).pipe(
    map((outcome) => {
      if (outcome.kind !== 'unwritable') return outcome.kind === 'interrupted' ? interruptedCode : code;
      world.stderr.write(`${unwritableMessage(outcome.error)}${unwritten.notice}`);
      return unwritten.code;
    }),
  );

/** Emits how something ended by itself, once. */
export const outcomeOf = (work$: Observable<unknown>): Observable<Outcome> =>
  work$.pipe(
    ignoreElements(),
    endWith<Outcome>({ kind: 'done' }),
    catchError((error: unknown) => of<Outcome>({ kind: 'failed', error })),
  );

function finish(outcome: Outcome, stdout: Output): Observable<Outcome> {
  if (outcome.kind === 'closed' || outcome.kind === 'unwritable') return of(outcome);
  return flush(stdout).pipe(
    endWith(outcome),
    catchError((error: unknown) => of(outputOutcome(error))),
  );
}

/** Emits when an output cannot be written, as on a full disk; not when its reader closes the pipe. */
export const writeFailures = (output: Output): Observable<unknown> =>
  fromEvent(output, 'error').pipe(filter((error) => !hasCode(error, 'EPIPE')));

/** What is said of a stdout that cannot be written. Without the cursor: it is unknown how much was written. */
export const unwritableMessage = (error: unknown): string => errorLine(`cannot write to stdout: ${messageOf(error)}`);

/** The outcome of an error of stdout: the reader closed the pipe, as `head -1` does, or writing failed, as on a full disk. */
const outputOutcome = (error: unknown): Outcome =>
  hasCode(error, 'EPIPE') ? { kind: 'closed' } : { kind: 'unwritable', error };
