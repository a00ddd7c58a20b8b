import type { FileHandle } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import {
  catchError,
  concat,
  concatMap,
  defer,
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
  throwError,
} from 'rxjs';
import { createLedger } from '../../ledger/createLedger.js';
import type { Ledger } from '../../ledger/Ledger.js';
import { UsageError } from '../arguments.js';
import { help } from '../help.js';
import { selected, untilPipeCloses } from '../tail/print.js';
import { grouped, lineOf, paintFor, statusLine } from '../terminal.js';
import { flushed, interruptions, type World } from '../World.js';
import { type Account, FileRefusedError, writeAccount } from './Account.js';
import { lineFile, type LineFile, type Opened } from './lineFile.js';
import { prepare } from './prepare.js';
import { type Ended, type Ending, exitCodeOf, type ReplayProgress, showReplay } from './progress.js';
import { readReplayOptions, type ReplayOptions } from './ReplayOptions.js';

/** Where to write, and what keeps account of it. */
interface Target {
  readonly output: Writable;
  readonly progress: ReplayProgress;
}

/** Writes what is between the cursor and the end of the range, no faster than the disk takes it; completes when all is handed over. */
export function fill(
  ledger: Ledger,
  { to: endInclusive }: Account,
  options: ReplayOptions,
  { output, progress }: Target,
): Observable<unknown> {
  const updateFormat = options.format;
  return untilPipeCloses(output, () =>
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

/** `canton-rx replay`; emits the exit code, once. */
export function replayCommand(args: readonly string[], world: World): Observable<number> {
  const options = readReplayOptions(args, world.env);
  if (options !== 'help') return replay(options, world);
  world.stdout.write(`${help.replay}\n`);
  return of(0);
}

/** Writes a range to a file until it is there, somebody ends it, or it fails; then emits the exit code, once. */
const replay = (options: ReplayOptions, world: World): Observable<number> =>
  defer(() => {
    const { ledger: baseUrl, token, out } = options;
    const ledger = createLedger({ baseUrl, ...(token !== undefined && { token }) });
    let isBegun = false;
    const interrupted$ = interruptions(world.signals).pipe(map(() => 'interrupted' as const));
    return merge(interrupted$, prepare(ledger, options)).pipe(
      take(1),
      concatMap((ready): Observable<Ended> => {
        if (ready === 'interrupted') return of({ kind: ready });
        const { account, file } = ready;
        isBegun = true;
        return file === undefined ? of({ kind: 'complete', account }) : written(ledger, account, file, options, world);
      }),
      catchError((error: unknown): Observable<Ended> => {
        const isUsage = error instanceof UsageError;
        return isUsage ? throwError(() => error) : of({ kind: 'failed', error });
      }),
      map((ended) => exitCodeOf(ended, { path: out, isBegun }, world.stderr)),
    );
  });

function written(
  ledger: Ledger,
  account: Account,
  { handle, extent, torn }: Opened,
  options: ReplayOptions,
  { stderr, signals, env }: World,
): Observable<Ended> {
  const path = options.out;
  const file = lineFile(handle, path, extent);
  const progress: ReplayProgress = { cursor: extent.last ?? account.from, updates: extent.updates };
  if (extent.updates > 0 || torn > 0) stderr.write(goingOn(progress, torn));
  const broken$ = fromEvent(file.output, 'error').pipe(map((error): Ending => ({ kind: 'failed', error })));
  const interrupted$ = interruptions(signals).pipe(map((): Ending => ({ kind: 'interrupted' })));
  const filled$ = fill(ledger, account, options, { output: file.output, progress }).pipe(
    ignoreElements(),
    endWith<Ending>({ kind: 'done' }),
    catchError((error: unknown) => of<Ending>({ kind: 'failed', error })),
  );
  const shown$ = showReplay(ledger, account, progress, statusLine(stderr, paintFor(stderr, env))).pipe(
    ignoreElements(),
  );
  return merge(broken$, interrupted$, shown$, filled$).pipe(
    take(1),
    concatMap((ending) => finish(ending, { path, account, handle, file, progress })),
  );
}

const goingOn = ({ cursor, updates }: ReplayProgress, torn: number): string =>
  `going on after offset ${cursor}: ${grouped(updates)} updates are there${torn > 0 ? ', and a torn line was cut off' : ''}\n`;

/** What was written to, and how far. */
interface Written {
  readonly path: string;
  readonly account: Account;
  readonly handle: FileHandle;
  readonly file: LineFile;
  readonly progress: ReplayProgress;
}

/** How it ended when what waits is on the disk; only then it is complete, and the account says so. */
const finish = (ending: Ending, written: Written): Observable<Ended> =>
  concat(flushed(written.file.output), of(ending)).pipe(
    concatMap(async (): Promise<Ended> => {
      await written.handle.sync();
      return ending.kind === 'done' ? { kind: 'complete', account: await completed(written) } : ending;
    }),
    // what failed first is what to tell
    catchError((error: unknown) => of(ending.kind === 'failed' ? ending : ({ kind: 'failed', error } as const))),
    finalize(() => {
      written.file.output.destroy();
    }),
    concatMap((ended) => concat(defer(() => written.handle.close()).pipe(ignoreElements()), of(ended))),
    map((ended): Ended => ended),
  );

async function completed({ path, account, handle, file, progress }: Written): Promise<Account> {
  const { size } = await handle.stat();
  if (size !== file.bytes())
    throw new FileRefusedError(`${path} has changed meanwhile: does another process write to it?`);
  const complete = { updates: progress.updates, bytes: size, sha256: file.sha256() };
  await writeAccount(path, { ...account, complete });
  return { ...account, complete };
}
