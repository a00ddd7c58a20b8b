import { EMPTY, finalize, map, type Observable, scan, startWith, tap, timer, withLatestFrom } from 'rxjs';
import type { Offset } from '../../codecs/scalars.js';
import type { Ledger } from '../../ledger/Ledger.js';
import { type Pace, paceOf } from '../tail/progress.js';
import { grouped, type Paint, type StatusLine } from '../terminal.js';
import { gapAdvice, messageOf, type Output } from '../World.js';
import { type Account, FileRefusedError } from './Account.js';

/** How far a replay has come; the one place where it is kept. */
export interface ReplayProgress {
  /** The offset of the last update that was read, and written unless left out. */
  cursor: Offset;
  /** How many are in the file, or wait to be. */
  updates: number;
}

/** How the reading came to its end: at the end of the range, by a signal, or by an error of the ledger or the disk. */
export type Ending =
  { readonly kind: 'done' } | { readonly kind: 'interrupted' } | { readonly kind: 'failed'; readonly error: unknown };

/** How the file was left. */
export type Ended = Exclude<Ending, { kind: 'done' }> | { readonly kind: 'complete'; readonly account: Account };

/** How far a replay had come at a time. */
interface ReplaySample extends Readonly<ReplayProgress> {
  readonly at: number;
}

/** The range. */
interface Span {
  readonly from: Offset;
  readonly to: Offset;
}

const cells = 20;

/** `██████████░░░░░░░░░░  50%  30 517 / 61 034  ·  1 200/s  ·  0:25 left`. */
export function replayText(samples: readonly ReplaySample[], { from, to }: Span, pace: Pace, paint: Paint): string {
  const [first, last] = [samples[0], samples.at(-1)];
  const cursor = last?.cursor ?? from;
  const share = to > from ? Math.min(1, (cursor - from) / (to - from)) : 1;
  // never full before it is
  const full = Math.floor(share * cells);
  const bar = `${paint('green', '█'.repeat(full))}${paint('dim', '░'.repeat(cells - full))}`;
  const seconds = first === undefined || last === undefined ? 0 : (last.at - first.at) / 1_000;
  const rateOf = (of: 'cursor' | 'updates'): number =>
    seconds > 0 ? ((last?.[of] ?? 0) - (first?.[of] ?? 0)) / seconds : 0;
  const place = `${String(Math.floor(share * 100)).padStart(3)}%  ${grouped(cursor)} / ${grouped(to)}`;
  const speed = paint('dim', `${grouped(Math.round(rateOf('updates')))}/s`);
  return `${bar} ${[place, speed, stateOf(pace, (to - cursor) / rateOf('cursor'), paint)].join('  ·  ')}`;
}

function stateOf({ trouble, hasCaughtUp }: Pace, secondsLeft: number, paint: Paint): string {
  if (trouble !== undefined) return paint('red', `trying again: ${trouble}`);
  if (hasCaughtUp) return paint('dim', 'waiting for the ledger to come so far');
  return Number.isFinite(secondsLeft) ? `${clockOf(Math.ceil(secondsLeft))} left` : paint('dim', 'asking');
}

/** `0:05`, `12:34`, `1:02:03`. */
function clockOf(seconds: number): string {
  const two = (number: number): string => String(number).padStart(2, '0');
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

const atFirst: Pace = { hasCaughtUp: false };

const everyMs = 250;

/** The rate is that of the last five seconds: the time left should not jump about. */
const most = 21;

/** Shows how far a replay has come, as long as it is subscribed and there is a terminal. */
export function showReplay(
  ledger: Ledger,
  span: Span,
  progress: ReplayProgress,
  status: StatusLine,
): Observable<unknown> {
  if (!status.isVisible) return EMPTY;
  const pace$ = ledger.diagnostics$.pipe(scan(paceOf, atFirst), startWith(atFirst));
  return timer(0, everyMs).pipe(
    map((): ReplaySample => ({ ...progress, at: Date.now() })),
    scan((samples: readonly ReplaySample[], sample) => [...samples, sample].slice(-most), []),
    withLatestFrom(pace$),
    tap(([samples, pace]) => {
      status.show((paint) => replayText(samples, span, pace, paint));
    }),
    finalize(() => {
      status.clear();
    }),
  );
}

/** A number of bytes as people read it: `512 B`, `3.4 kB`, `1.2 GB`. */
export function sizeText(bytes: number): string {
  const power = bytes < 1_000 ? 0 : Math.min(4, Math.floor(Math.log10(bytes) / 3));
  const unit = ['B', 'kB', 'MB', 'GB', 'TB'][power] ?? 'B';
  return `${(bytes / 1_000 ** power).toFixed(power === 0 ? 0 : 1)} ${unit}`;
}

/** What was left. */
interface Left {
  readonly path: string;
  /** Whether something was to be written to it. */
  readonly isBegun: boolean;
}

/** What a shell says of a process that Ctrl-C has ended: a file that is not complete must not look like one that is. */
const interrupted = 130;

/** Says on stderr what there is to say of the end, and returns the exit code. */
export function exitCodeOf(ended: Ended, { path, isBegun }: Left, stderr: Output): number {
  const goOn = isBegun ? `the same command goes on where ${path} ends\n` : '';
  switch (ended.kind) {
    case 'complete': {
      const { from, to, complete } = ended.account;
      const { updates = 0, bytes = 0 } = complete ?? {};
      stderr.write(`complete: ${grouped(updates)} updates after ${from} up to ${to}, ${sizeText(bytes)}: ${path}\n`);
      return 0;
    }
    case 'interrupted':
      stderr.write(`interrupted\n${goOn}`);
      return interrupted;
    case 'failed':
      stderr.write(`${messageOf(ended.error)}\n${adviceFor(ended.error) ?? goOn}`);
      return 1;
  }
}

/** What to do where the same command does not go on. */
function adviceFor(error: unknown): string | undefined {
  // it says so itself
  if (error instanceof FileRefusedError) return '';
  const advice = gapAdvice(error, {
    pruned: (earliest) => `another file with --from ${earliest} goes on without it`,
    reset: 'the offsets of the file mean nothing there any more: choose another file',
  });
  return advice && `${advice}\n`;
}
