import { statSync } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import {
  catchError,
  combineLatest,
  concat,
  concatMap,
  defer,
  EMPTY,
  ignoreElements,
  map,
  merge,
  type Observable,
  of,
  take,
  throwError,
} from 'rxjs';
import { isLedgerError } from '../../index.js';
import { parseOptions, readInteger, readOffset, UsageError } from '../arguments.js';
import { ledgerCommands } from '../ledgerCommands.js';
import { readConnection } from '../Connection.js';
import { nameMessage, reportEnd } from '../failure.js';
import { checkParties, participantId, warnOfSynchronizers } from '../participant.js';
import { readSelection } from '../Selection.js';
import { firstAnswer, openSession, type Session } from '../Session.js';
import { findStart, readStart } from '../start.js';
import { escapeText, formatSize, groupDigits } from '../terminal.js';
import { errorLine, interruptedCode, interruptions, systemReason, type World } from '../World.js';
import {
  checkComplete,
  FileRefusedError,
  type Manifest,
  manifestPath,
  openLineFile,
  type OpenLineFile,
  readManifest,
  reconcile,
  writeManifest,
} from './file.js';
import { type Replayed, writeRange } from './writeRange.js';

/** `canton-rx replay`; emits the exit code, once. */
export function replayCommand(args: readonly string[], world: World): Observable<number> {
  const options = readReplayOptions(args, world);
  return openSession(options, world).pipe(concatMap((session) => replay(options, session)));
}

/** The ledger, the updates and the file. */
type ReplayOptions = ReturnType<typeof readReplayOptions>;

function readReplayOptions(args: readonly string[], world: World) {
  const values = parseOptions(args, ledgerCommands.replay.options);
  const relative = readStart(values, values.from);
  const start = relative && JSON.stringify([values.since, values.count]);
  const from = readInteger('from', values.from, 0);
  const to = readOffset('to', values.to ?? 'end');
  if (to !== 'end' && to < from) throw new UsageError(`--to ${to} is before --from ${from}`);
  const { out } = values;
  if (out === undefined || out === '') throw new UsageError('no file: use --out FILE');
  checkOut(out);
  const connection = readConnection(values, world);
  const selection = readSelection(values, connection.contextParties);
  // checkpoints depend on when they are read, so that resuming would not lead to the same file
  if (selection.variants.includes('OffsetCheckpoint'))
    throw new UsageError('--variant OffsetCheckpoint: replay leaves checkpoints out');
  return { ...connection, ...selection, from, relative, start, to, out };
}

/** A folder cannot be written, and is not created. */
function checkOut(out: string): void {
  if (statSync(out, { throwIfNoEntry: false })?.isDirectory() === true)
    throw new UsageError(`--out ${out} is a folder: add the name of a file`);
  const folder = dirname(out);
  if (statSync(folder, { throwIfNoEntry: false }) === undefined)
    throw new UsageError(`the folder of --out does not exist: ${folder}`);
}

/** Writes a range to a file until it is complete, a signal arrives or it fails; then emits the exit code, once. */
const replay = (options: ReplayOptions, session: Session): Observable<number> =>
  merge(interruptions(session.world.signals).pipe(map(() => undefined)), prepare(options, session)).pipe(
    take(1),
    concatMap((prepared): Observable<Replayed> => {
      if (prepared === undefined) return of({ outcome: { kind: 'interrupted' } });
      const { manifest, opened } = prepared;
      return opened === undefined
        ? of({ outcome: { kind: 'done' }, manifest })
        : writeRange(session, { path: options.out, manifest, opened }, options);
    }),
    catchError((error: unknown) => of<Replayed>({ outcome: { kind: 'failed', error } })),
    concatMap((replayed) => finish(replayed, options, session)),
  );

/** The manifest of a file, and the file unless it is complete already. */
interface Prepared {
  readonly manifest: Manifest;
  readonly opened?: OpenLineFile;
}

/**
 * Compares an existing file with the options, or writes the manifest of a new one before anything else. Sends requests to the
 * ledger first, so that a mistyped URL fails at once.
 */
const prepare = (options: ReplayOptions, session: Session): Observable<Prepared> =>
  defer(() => readManifest(options)).pipe(
    concatMap((existing) => {
      if (existing?.complete !== undefined)
        return defer(() => checkComplete(options.out, existing)).pipe(map(() => ({ manifest: existing })));
      const end$ = firstAnswer(session).pipe(
        // a service that does not report the ledger end can be read up to a known offset
        catchError((error: unknown) => {
          const isNeeded = existing === undefined && options.to === 'end';
          return isLedgerError(error, 'ApiError') && !isNeeded ? of(undefined) : throwError(() => error);
        }),
      );
      // the names of a file that was started were checked then
      const checked$ =
        existing === undefined
          ? concat(checkParties(session, options.parties), warnOfSynchronizers(session, options.synchronizers))
          : EMPTY;
      return combineLatest({ end: end$, participantId: participantId(session.connection) }).pipe(
        concatMap((state) => concat(checked$, of(state))),
        concatMap((state) => {
          const { relative, to } = options;
          const end = to === 'end' ? state.end : Math.min(to, state.end ?? to);
          const from$ =
            existing !== undefined || relative === undefined || end === undefined
              ? of(options.from)
              : findStart(session, options, relative, end);
          return from$.pipe(map((from) => ({ state, from })));
        }),
        concatMap(async ({ state, from }) => {
          const manifest = reconcile(existing, { ...options, from }, state);
          const { stderr } = session.world;
          if (stderr.isTTY !== true && state.end !== undefined && state.end < manifest.to)
            stderr.write(
              errorLine(`the ledger ends at offset ${state.end}: waiting for updates up to --to ${manifest.to}`),
            );
          if (existing === undefined) await writeManifest(options.out, manifest);
          return { manifest, opened: await openLineFile(options.out, manifest.from) };
        }),
      );
    }),
  );

/** Reports the end on stderr and emits the exit code. */
function finish({ outcome, manifest }: Replayed, options: ReplayOptions, session: Session): Observable<number> {
  const { out } = options;
  const error = 'error' in outcome ? outcome.error : undefined;
  if (error instanceof UsageError) throw error;
  // the message of a refused file has the next step
  const isResumable = manifest !== undefined && !(error instanceof FileRefusedError);
  const resume = isResumable ? `the same command resumes at the end of ${escapeText(out)}\n` : '';
  const done = manifest === undefined ? '' : summaryOf(manifest, out);
  const code$ = reportEnd(
    error === undefined ? outcome : { kind: 'failed', error: fileError(error, out) },
    { done, interrupted: `interrupted\n${resume}`, interruptedCode },
    { ...options, gap, resume },
    session,
  );
  const isMistyped = manifest !== undefined && nameMessage(error, options) !== undefined;
  return isMistyped ? concat(defer(() => removeEmpty(out)).pipe(ignoreElements()), code$) : code$;
}

const gap = {
  pruned: (earliest: number) => `another file with --from ${earliest} continues without them`,
  reset: 'the offsets of the file do not apply to the ledger any more: choose another file',
};

const summaryOf = ({ from, to, complete }: Manifest, path: string): string =>
  `complete: ${groupDigits(complete?.updates ?? 0)} updates after ${from} up to ${to}, ${formatSize(complete?.bytes ?? 0)}: ${escapeText(path)}\n`;

/** Names the file, and not a temporary one next to it, in an error of the disk. */
function fileError(error: unknown, path: string): unknown {
  const reason = isLedgerError(error) ? undefined : systemReason(error);
  return reason === undefined ? error : new Error(`cannot write ${path}: ${reason}`);
}

/** Removes a file without updates, and its manifest, so that the corrected command can start it. */
async function removeEmpty(path: string): Promise<void> {
  const { size } = await stat(path);
  if (size === 0) await Promise.all([rm(path), rm(manifestPath(path), { force: true })]);
}
