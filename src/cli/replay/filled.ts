import type { Writable } from 'node:stream';
import { defer, filter, tap, type Observable } from 'rxjs';
import type { Ledger } from '../../ledger/Ledger.js';
import { selected } from '../tail/selected.js';
import { whileRoom } from '../tail/whileRoom.js';
import { lineOf } from '../text/lineOf.js';
import type { Account } from './Account.js';
import type { ReplayOptions } from './ReplayOptions.js';
import type { ReplayProgress } from './ReplayProgress.js';

/** Where to write, and what keeps account of it. */
export interface Target {
  readonly output: Writable;
  readonly progress: ReplayProgress;
}

/** Writes what is between the cursor and the end of the range, no faster than the disk takes it; completes when all is handed over. */
export function filled(
  ledger: Ledger,
  { to: endInclusive }: Account,
  options: ReplayOptions,
  { output, progress }: Target,
): Observable<unknown> {
  const updateFormat = options.format;
  return whileRoom(output, () =>
    defer(() => ledger.updates({ beginExclusive: progress.cursor, endInclusive, updateFormat })).pipe(
      tap(({ offset }) => {
        progress.cursor = offset;
      }),
      filter(({ _tag }) => _tag !== 'OffsetCheckpoint'),
      selected(options),
      tap((update) => {
        output.write(lineOf(update));
        progress.updates += 1;
      }),
    ),
  );
}
