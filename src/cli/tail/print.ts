import {
  catchError,
  defer,
  EMPTY,
  endWith,
  fromEvent,
  identity,
  ignoreElements,
  map,
  type MonoTypeOperatorFunction,
  type Observable,
  of,
  pipe,
  repeat,
  switchMap,
  take,
  takeWhile,
  tap,
  throwError,
} from 'rxjs';
import type { Offset } from '../../codecs/scalars.js';
import type { Update } from '../../codecs/Update.js';
import { isApiError } from '../../errors/ApiError.js';
import type { Ledger } from '../../ledger/Ledger.js';
import { ofVariant } from '../../operators/ofVariant.js';
import { onSynchronizer } from '../../operators/onSynchronizer.js';
import { prettyRows } from '../pretty.js';
import { columnsOf, escapedLine, lineOf, paintFor, type StatusLine } from '../terminal.js';
import type { Output, World } from '../World.js';
import type { Progress } from './progress.js';
import type { TailOptions } from './TailOptions.js';

/** Passes what is to be printed. */
export function selected(options: Pick<TailOptions, 'variants' | 'synchronizers'>): MonoTypeOperatorFunction<Update> {
  const [variant, ...variants] = options.variants;
  const [synchronizer, ...synchronizers] = options.synchronizers;
  return pipe(
    variant === undefined ? identity<Observable<Update>> : ofVariant(variant, ...variants),
    synchronizer === undefined ? identity : onSynchronizer(synchronizer, ...synchronizers),
  );
}

/** How many bytes may wait for a slow reader. */
const mostWaiting = 2 ** 20;

/**
 * Reads a feed no faster than an output is read. A feed pushes, but it can be left and resumed: when 1 MiB waits in the
 * output, the feed is unsubscribed, which aborts its request, and `read` is asked for it again when all is written. So what
 * waits is 1 MiB, the line that went beyond it, and one page of updates, however slow the reader and however long the ledger.
 *
 * @param read - the feed from where printing stands, writing what it emits
 */
export const untilPipeCloses = (output: Output, read: () => Observable<unknown>): Observable<unknown> => {
  const isFull = (): boolean => output.writableLength >= mostWaiting;
  return defer(read).pipe(
    map(isFull),
    takeWhile((full) => !full),
    repeat({ delay: () => (isFull() ? fromEvent(output, 'drain').pipe(take(1)) : EMPTY) }),
  );
};

/** Where to print, and what keeps account of it. */
interface Printer {
  readonly stdout: Output;
  /** What to write for an update. */
  readonly rowOf: (update: Update) => string;
  readonly status: StatusLine;
  readonly progress: Progress;
}

/** Prints the updates that the options ask for; emits once, when all are printed. */
export function printed(ledger: Ledger, options: TailOptions, printer: Printer): Observable<true> {
  const { stdout, rowOf, status, progress } = printer;
  let line = '';
  const print = (): void => {
    // a terminal that shows both must not have them in one line
    if (stdout.isTTY === true) status.clear();
    stdout.write(line);
  };
  const readFrom = (beginExclusive: number): Observable<Update> =>
    ledger.updates(
      {
        beginExclusive,
        updateFormat: options.format,
        ...(options.to !== undefined && { endInclusive: options.to }),
      },
      { transport: options.isPushed ? 'websocket' : 'http' },
    );
  return beginOf(ledger, options).pipe(
    switchMap((begin) => {
      progress.cursor = begin;
      return untilPipeCloses(stdout, () =>
        defer(() => readFrom(progress.cursor ?? begin)).pipe(
          // of what is left out, too; whatever passes is printed before anybody else has a say
          tap((update) => {
            // before the cursor moves: what is too deep to be written must not be passed over
            line = rowOf(update);
            progress.cursor = update.offset;
            progress.count += 1;
          }),
          selected(options),
          tap(print),
        ),
      );
    }),
    ignoreElements(),
    endWith(true as const),
  );
}

/**
 * Where to begin. Asks for the ledger end in any case: a feed waits for a ledger that cannot be reached, and whoever
 * mistyped its address should not. What the ledger itself answers is for the feed to judge; it may do without the end.
 */
const beginOf = (
  ledger: Ledger,
  { from, to = Infinity }: { readonly from: Offset | 'end'; readonly to: Offset | undefined },
): Observable<Offset> =>
  ledger.ledgerEnd().pipe(
    map((end) => {
      if (from !== 'end') return from;
      if (end > to) throw new Error(`the ledger ends at ${end}, beyond --to ${to}`);
      return end;
    }),
    catchError((error: unknown) => (from !== 'end' && isApiError(error) ? of(from) : throwError(() => error))),
  );

/** How updates are written: for people, for programs, or for programs where people look on. */
export function rowsFor({ isPretty }: TailOptions, { stdout, env }: World): (update: Update) => string {
  if (isPretty) return prettyRows(() => columnsOf(stdout, 120), paintFor(stdout, env));
  return stdout.isTTY === true ? (update) => escapedLine(lineOf(update)) : lineOf;
}
