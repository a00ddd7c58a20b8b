import { catchError, concat, defer, ignoreElements, map, type Observable, of, switchMap, tap, throwError } from 'rxjs';
import type { Offset } from '../../codecs/scalars.js';
import type { Update } from '../../codecs/Update.js';
import { isApiError } from '../../errors/ApiError.js';
import type { Ledger } from '../../ledger/Ledger.js';
import { firstAnswer } from '../firstAnswer.js';
import { checkParties, warnOfSynchronizers } from '../unknownNames.js';
import { withBackpressure } from '../output.js';
import { prettyRows } from '../pretty.js';
import { select } from '../Selection.js';
import { columnsOf, paintFor, type StatusLine } from '../terminal.js';
import { escapeJsonLine, toJsonLine } from '../text.js';
import type { World } from '../World.js';
import type { TailProgress } from './progress.js';
import type { TailOptions } from './TailOptions.js';

/** Where {@link printUpdates} prints, and the progress that it keeps. */
interface Printer {
  readonly world: World;
  readonly status: StatusLine;
  readonly progress: TailProgress;
}

/** Prints the updates that the options select; completes when all are printed. */
export function printUpdates(ledger: Ledger, options: TailOptions, printer: Printer): Observable<never> {
  const { world, status, progress } = printer;
  const { stdout } = world;
  const formatRow = rowFormat(options, world);
  let row = '';
  const print = (): void => {
    // rows and the status line may share a terminal
    if (stdout.isTTY === true) status.clear();
    stdout.write(row);
  };
  const updatesAfter = (beginExclusive: number): Observable<Update> =>
    ledger.updates({
      beginExclusive,
      updateFormat: options.format,
      ...(options.to !== undefined && { endInclusive: options.to }),
    });
  return startOffset(firstAnswer(ledger, options, world.stderr, status), options).pipe(
    switchMap((start) =>
      concat(
        checkParties(ledger, options, options.parties),
        warnOfSynchronizers(options, options.synchronizers, world.stderr),
        of(start),
      ),
    ),
    switchMap((start) => {
      progress.cursor = start;
      return withBackpressure(stdout, () =>
        defer(() => updatesAfter(progress.cursor ?? start)).pipe(
          // for updates that are left out, too
          tap((update) => {
            // before the cursor moves: an update that cannot be formatted must not be skipped
            row = formatRow(update);
            progress.cursor = update.offset;
            progress.count += 1;
          }),
          select(options),
          tap(print),
        ),
      );
    }),
    ignoreElements(),
  );
}

/**
 * Where to start. Waits for the ledger end in any case, so that a mistyped URL fails at once. An error of the ledger itself
 * is left to the feed, which may work without the ledger end.
 */
const startOffset = (
  ledgerEnd$: Observable<Offset>,
  { from, to = Infinity }: { readonly from: Offset | 'end'; readonly to: Offset | undefined },
): Observable<Offset> =>
  ledgerEnd$.pipe(
    map((end) => {
      if (from !== 'end') {
        if (end < from) throw new Error(`the ledger ends at offset ${end}, before --from ${from}`);
        return from;
      }
      if (end > to) throw new Error(`the ledger already ends at ${end}, after --to ${to}`);
      return end;
    }),
    catchError((error: unknown) => (from !== 'end' && isApiError(error) ? of(from) : throwError(() => error))),
  );

/** The format of updates: rows for people, JSON for programs, or JSON that is safe for a terminal. */
function rowFormat({ isPretty }: TailOptions, { stdout, env }: World): (update: Update) => string {
  if (isPretty) return prettyRows(() => columnsOf(stdout, 120), paintFor(stdout, env));
  return stdout.isTTY === true ? (update) => escapeJsonLine(toJsonLine(update)) : toJsonLine;
}
