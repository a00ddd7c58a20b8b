import { defer, ignoreElements, switchMap, tap, endWith, type Observable } from 'rxjs';
import type { Update } from '../../codecs/Update.js';
import type { Ledger } from '../../ledger/Ledger.js';
import type { Output } from '../World.js';
import { beginOf } from './beginOf.js';
import type { Progress } from './Progress.js';
import { selected } from './selected.js';
import type { StatusLine } from '../text/statusLine.js';
import type { TailOptions } from './TailOptions.js';
import { whileRoom } from './whileRoom.js';

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
      return whileRoom(stdout, () =>
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
