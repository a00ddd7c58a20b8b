import { concatMap, defer, type Observable } from 'rxjs';
import { joinParts, type Pace, rateOf, rateText, type Samples, showSession, troubleText } from '../progress.js';
import { type Reading, readSelected, type Selection, variants } from '../Selection.js';
import type { Session } from '../Session.js';
import { groupDigits, type Paint, toJsonLine } from '../terminal.js';
import { type Outcome, runToEnd } from '../World.js';
import { checkSize, type LineFile, lineFile, type Manifest, type OpenLineFile, writeManifest } from './file.js';

/** A file to write, and what it will have. */
interface Target {
  readonly path: string;
  readonly manifest: Manifest;
  readonly opened: OpenLineFile;
}

/** How a replay ended, and the manifest of the file, if it was started. */
export interface Replayed {
  readonly outcome: Outcome;
  readonly manifest?: Manifest;
}

/**
 * How far a replay has read. Only the function that writes the file changes it.
 *
 * @internal
 */
export interface ReplayProgress extends Reading {
  /** How many updates the file has, including those that wait to be written. */
  updates: number;
}

/** A file being written. */
interface Writing extends Target {
  readonly file: LineFile;
  readonly progress: ReplayProgress;
}

/** Appends the rest of a range to its file, and shows the progress; emits once, when the file is closed. */
export const writeRange = (session: Session, target: Target, selection: Selection): Observable<Replayed> =>
  defer(() => {
    const { path, manifest, opened } = target;
    const { extent, removedBytes } = opened;
    const { stderr, signals } = session.world;
    const { offset: cursor = manifest.from, updateId } = extent.last ?? {};
    // proves that the ledger is still the one of the file
    const lastUpdate = updateId === undefined ? undefined : { offset: cursor, updateId };
    const progress: ReplayProgress = { cursor, lastUpdate, updates: extent.updates };
    const writing: Writing = { ...target, file: lineFile(opened, path), progress };
    if (extent.updates > 0 || removedBytes > 0) stderr.write(resumeMessage(progress, removedBytes));
    const shown$ = showSession(session, {
      read: () => progress,
      // so that the time left does not jump
      seconds: 5,
      format: (samples, pace, paint) => formatReplayProgress(samples, manifest, pace, paint),
    });
    return runToEnd({ stdout: writing.file.output, signals }, fill(session, writing, selection), shown$).pipe(
      concatMap((outcome) => close(outcome, writing)),
    );
  });

const resumeMessage = ({ cursor, updates }: ReplayProgress, removedBytes: number): string =>
  `resuming after offset ${cursor}: the file has ${groupDigits(updates)} updates${removedBytes > 0 ? '; an incomplete last line was removed' : ''}\n`;

/** All variants but checkpoints, which depend on when they are read. */
const replayed = variants.filter((variant) => variant !== 'OffsetCheckpoint');

/** Writes the updates from the cursor to the end of the range, no faster than the disk; completes when all are in the stream. */
function fill(session: Session, { manifest, file, progress }: Writing, selection: Selection): Observable<unknown> {
  return readSelected(session, file.output, progress, {
    selection: { ...selection, variants: selection.variants.length > 0 ? selection.variants : replayed },
    to: manifest.to,
    format: toJsonLine,
    write: (line) => {
      file.output.write(line);
      progress.updates += 1;
    },
  });
}

/** Waits until all lines are on the disk, records a complete file in the manifest, and closes the file. */
async function close(outcome: Outcome, writing: Writing): Promise<Replayed> {
  const { manifest, opened, file } = writing;
  try {
    await opened.handle.sync();
    return { outcome, manifest: outcome.kind === 'done' ? await complete(writing) : manifest };
  } catch (error) {
    // the first failure is the one to report
    return { outcome: 'error' in outcome ? outcome : { kind: 'failed', error }, manifest };
  } finally {
    file.output.destroy();
    await opened.handle.close();
  }
}

async function complete({ path, manifest, opened, file, progress }: Writing): Promise<Manifest> {
  const bytes = file.bytes();
  await checkSize(opened.handle, path, bytes);
  const completed = { ...manifest, complete: { updates: progress.updates, bytes, sha256: file.sha256() } };
  await writeManifest(path, completed);
  return completed;
}

const cells = 20;

/**
 * Formats the status line: `██████████░░░░░░░░░░  50%  30 517 / 61 034  ·  1 200/s  ·  0:25 left`.
 *
 * @internal
 */
export function formatReplayProgress(
  samples: Samples<ReplayProgress>,
  { from, to }: Pick<Manifest, 'from' | 'to'>,
  pace: Pace,
  paint: Paint,
): string {
  const { cursor } = samples.at(-1) ?? samples[0];
  const share = to > from ? Math.min(1, (cursor - from) / (to - from)) : 1;
  // rounded down: not full before the end
  const full = Math.floor(share * cells);
  const bar = `${paint('green', '█'.repeat(full))}${paint('dim', '░'.repeat(cells - full))}`;
  const position = `${String(Math.floor(share * 100)).padStart(3)}%  ${groupDigits(cursor)} / ${groupDigits(to)}`;
  const speed = rateText(rateOf(samples, ({ updates }) => updates) ?? 0, paint);
  const secondsLeft = (to - cursor) / (rateOf(samples, (progress) => progress.cursor) ?? 0);
  return `${bar} ${joinParts(position, speed, troubleText(pace.trouble, paint) || stateText(pace, secondsLeft, paint))}`;
}

function stateText({ hasCaughtUp }: Pace, secondsLeft: number, paint: Paint): string {
  if (hasCaughtUp) return paint('dim', 'waiting for new updates');
  return Number.isFinite(secondsLeft) ? `${toClock(Math.ceil(secondsLeft))} left` : paint('dim', 'connecting');
}

/** `0:05`, `12:34`, `1:02:03`. */
function toClock(seconds: number): string {
  const [hours, minutes, rest] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  const parts = hours > 0 ? [hours, minutes, rest] : [minutes, rest];
  return parts.map((part, index) => (index === 0 ? String(part) : String(part).padStart(2, '0'))).join(':');
}
