import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  endWith,
  filter,
  finalize,
  fromEvent,
  ignoreElements,
  map,
  merge,
  type Observable,
  of,
  take,
  tap,
} from 'rxjs';
import type { Ledger } from '../../ledger/Ledger.js';
import { flush, withBackpressure } from '../output.js';
import { retryNotices, showProgress } from '../progress.js';
import { select, type Selection } from '../Selection.js';
import { paintFor, statusLine } from '../terminal.js';
import { groupDigits, toJsonLine } from '../text.js';
import { interruptions, type World } from '../World.js';
import { checkSize, lineFile, type LineFile, type OpenLineFile } from './lineFile.js';
import { type Manifest, writeManifest } from './Manifest.js';
import { formatReplayProgress, type ReplayProgress } from './progress.js';

/** How a replay ended. */
export type Ended =
  | { readonly kind: 'complete'; readonly manifest: Manifest }
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'failed'; readonly error: unknown };

/** Which updates to read, and which of them to write. */
type Reading = Pick<Selection, 'format' | 'variants' | 'synchronizers'>;

/** What {@link writeRange} writes to. */
interface Target {
  /** The host and port of the ledger. */
  readonly address: string;
  readonly path: string;
  readonly manifest: Manifest;
  readonly opened: OpenLineFile;
}

/** How the reading ended: at the end of the range, by a signal, or by an error of the ledger or the disk. */
type Ending = { readonly kind: 'done' } | Exclude<Ended, { readonly kind: 'complete' }>;

/** A file being written. */
interface Writing extends Target {
  readonly file: LineFile;
  readonly progress: ReplayProgress;
}

/** The rate is that of the last five seconds, so that the time left does not jump. */
const sampleCount = 21;

/** Appends the rest of a range to its file, and shows the progress; emits once, when the file is closed. */
export const writeRange = (
  ledger: Ledger,
  target: Target,
  selection: Reading,
  { stderr, signals, env }: Pick<World, 'stderr' | 'signals' | 'env'>,
): Observable<Ended> =>
  defer(() => {
    const { path, address, manifest, opened } = target;
    const { extent, removedBytes } = opened;
    const file = lineFile(opened, path);
    const progress: ReplayProgress = { cursor: extent.last ?? manifest.from, updates: extent.updates };
    const writing: Writing = { ...target, file, progress };
    if (extent.updates > 0 || removedBytes > 0) stderr.write(resumeMessage(progress, removedBytes));
    const broken$ = fromEvent(file.output, 'error').pipe(map((error): Ending => ({ kind: 'failed', error })));
    const interrupted$ = interruptions(signals).pipe(map((): Ending => ({ kind: 'interrupted' })));
    const filled$ = fill(ledger, writing, selection).pipe(
      ignoreElements(),
      endWith<Ending>({ kind: 'done' }),
      catchError((error: unknown) => of<Ending>({ kind: 'failed', error })),
    );
    const status = statusLine(stderr, paintFor(stderr, env));
    const shown$ = showProgress(ledger, status, {
      read: () => progress,
      sampleCount,
      format: (samples, pace, paint) => formatReplayProgress(samples, manifest, pace, paint),
    }).pipe(ignoreElements());
    const noticed$ = status.isVisible ? EMPTY : retryNotices(ledger, address, stderr);
    return merge(broken$, interrupted$, shown$, noticed$, filled$).pipe(
      take(1),
      concatMap((ending) => finish(ending, writing)),
    );
  });

const resumeMessage = ({ cursor, updates }: ReplayProgress, removedBytes: number): string =>
  `resuming after offset ${cursor}: the file has ${groupDigits(updates)} updates${removedBytes > 0 ? '; an incomplete last line was removed' : ''}\n`;

/** Writes the updates from the cursor to the end of the range, no faster than the disk; completes when all are in the stream. */
function fill(ledger: Ledger, { manifest, file, progress }: Writing, selection: Reading): Observable<unknown> {
  const [endInclusive, updateFormat] = [manifest.to, selection.format];
  return withBackpressure(file.output, () =>
    defer(() => ledger.updates({ beginExclusive: progress.cursor, endInclusive, updateFormat })).pipe(
      tap(({ offset }) => {
        progress.cursor = offset;
      }),
      filter(({ _tag }) => _tag !== 'OffsetCheckpoint'),
      select(selection),
      tap((update) => {
        file.output.write(toJsonLine(update));
        progress.updates += 1;
      }),
    ),
  );
}

/** Waits until all lines are on the disk, records a complete file in the manifest, and closes the file. */
const finish = (ending: Ending, writing: Writing): Observable<Ended> =>
  concat(flush(writing.file.output), of(ending)).pipe(
    concatMap(async (): Promise<Ended> => {
      await writing.opened.handle.sync();
      return ending.kind === 'done' ? { kind: 'complete', manifest: await complete(writing) } : ending;
    }),
    // the first failure is the one to report
    catchError((error: unknown) => of(ending.kind === 'failed' ? ending : ({ kind: 'failed', error } as const))),
    finalize(() => {
      writing.file.output.destroy();
    }),
    concatMap((ended) => concat(defer(() => writing.opened.handle.close()).pipe(ignoreElements()), of(ended))),
    map((ended): Ended => ended),
  );

async function complete({ path, manifest, opened, file, progress }: Writing): Promise<Manifest> {
  const bytes = file.bytes();
  await checkSize(opened.handle, path, bytes);
  const completed = { ...manifest, complete: { updates: progress.updates, bytes, sha256: file.sha256() } };
  await writeManifest(path, completed);
  return completed;
}
