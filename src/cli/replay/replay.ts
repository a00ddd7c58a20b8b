import { rm, stat } from 'node:fs/promises';
import { catchError, concatMap, defer, map, merge, type Observable, of, take, throwError } from 'rxjs';
import { isLedgerError } from '../../errors/LedgerError.js';
import { createLedger } from '../../ledger/createLedger.js';
import { UsageError } from '../arguments.js';
import { addressOf, type Connection } from '../Connection.js';
import { firstAdvice, ledgerMessage, tokenAdvice } from '../firstAnswer.js';
import { templateMessage, UnknownPartyError } from '../unknownNames.js';
import type { Output } from '../output.js';
import { formatSize, groupDigits } from '../text.js';
import { errorLine, gapAdvice, interruptions, systemReason, type World } from '../World.js';
import { FileRefusedError, manifestPath } from './Manifest.js';
import { prepare } from './prepare.js';
import { readReplayOptions, type ReplayOptions } from './ReplayOptions.js';
import { type Ended, writeRange } from './writeRange.js';

/** `canton-rx replay`; emits the exit code, once. */
export const replayCommand = (args: readonly string[], world: World): Observable<number> =>
  replay(readReplayOptions(args, world.env), world);

/** Writes a range to a file until it is complete, a signal arrives or it fails; then emits the exit code, once. */
const replay = (options: ReplayOptions, world: World): Observable<number> =>
  defer(() => {
    const { ledger: baseUrl, token, out: path } = options;
    const ledger = createLedger({ baseUrl, ...(token !== undefined && { token }) });
    let isStarted = false;
    const interrupted$ = interruptions(world.signals).pipe(map(() => 'interrupted' as const));
    return merge(interrupted$, prepare(ledger, options, world.stderr)).pipe(
      take(1),
      concatMap((prepared): Observable<Ended> => {
        if (prepared === 'interrupted') return of({ kind: prepared });
        const { manifest, file: opened } = prepared;
        isStarted = true;
        return opened === undefined
          ? of({ kind: 'complete', manifest })
          : writeRange(ledger, { path, address: addressOf(options), manifest, opened }, options, world);
      }),
      catchError((error: unknown): Observable<Ended> => {
        const isUsage = error instanceof UsageError;
        return isUsage ? throwError(() => error) : of({ kind: 'failed', error });
      }),
      concatMap((ended) => {
        const named = ended.kind === 'failed' ? templateMessage(ended.error, options.templates) : undefined;
        if (named === undefined) return of(reportEnd(ended, { path, isStarted }, options, world.stderr));
        world.stderr.write(errorLine(named));
        return defer(() => removeEmpty(path)).pipe(map(() => 1));
      }),
    );
  });

/** Removes a file without updates, and its manifest, so that the corrected command can start it. */
async function removeEmpty(path: string): Promise<void> {
  const { size } = await stat(path);
  if (size === 0) await Promise.all([rm(path), rm(manifestPath(path), { force: true })]);
}

/** The file of a replay that ended. */
interface File {
  readonly path: string;
  /** Whether the replay started to write it. */
  readonly isStarted: boolean;
}

/** The exit code that shells use after Ctrl-C: an incomplete file must not look like a complete one. */
const interruptedCode = 130;

/** Reports the end on stderr and returns the exit code. */
function reportEnd(ended: Ended, { path, isStarted }: File, connection: Connection, stderr: Output): number {
  const resume = isStarted ? `the same command resumes at the end of ${path}\n` : '';
  switch (ended.kind) {
    case 'complete': {
      const { from, to, complete } = ended.manifest;
      const { updates = 0, bytes = 0 } = complete ?? {};
      stderr.write(
        `complete: ${groupDigits(updates)} updates after ${from} up to ${to}, ${formatSize(bytes)}: ${path}\n`,
      );
      return 0;
    }
    case 'interrupted':
      stderr.write(`interrupted\n${resume}`);
      return interruptedCode;
    case 'failed': {
      const { error } = ended;
      const next = resume === '' ? firstAdvice(error) : tokenAdvice(error) + resume;
      stderr.write(`${errorLine(failureMessage(error, path, connection))}${adviceFor(error) ?? next}`);
      return 1;
    }
  }
}

/** Names the file, and not a temporary one next to it. */
function failureMessage(error: unknown, path: string, connection: Connection): string {
  const reason = isLedgerError(error) ? undefined : systemReason(error);
  return reason === undefined ? ledgerMessage(error, connection) : `cannot write ${path}: ${reason}`;
}

/** The next step for an error after which the same command fails again. */
function adviceFor(error: unknown): string | undefined {
  // its message has the next step
  if (error instanceof FileRefusedError || error instanceof UnknownPartyError) return '';
  const advice = gapAdvice(error, {
    pruned: (earliest) => `another file with --from ${earliest} continues without them`,
    reset: 'the offsets of the file do not apply to the ledger any more: choose another file',
  });
  return advice && `→ ${advice}\n`;
}
