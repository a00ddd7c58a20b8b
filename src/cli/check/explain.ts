import { defer, map, type Observable, of } from 'rxjs';
import type { Party } from '../../codecs/scalars.js';
import { isLedgerError } from '../../errors/LedgerError.js';
import type { Connection } from '../Connection.js';
import { columnsOf, paintFor } from '../terminal.js';
import type { World } from '../World.js';
import { runChecks } from './checkCommand.js';
import { exitCodeOf, formatFindings } from './report.js';

/** The ledger that a command could not read, and the parties as which it did. */
interface Target extends Connection {
  readonly parties: readonly Party[] | 'any';
}

/**
 * Explains an error of a ledger as `check` does: runs the checks and writes those that fail to stderr, each with its next
 * step. Emits the exit code of `check`, once; 1 if no check fails, and at once for an error that has another cause.
 */
export const explain = (error: unknown, target: Target, { stderr, env }: World): Observable<number> =>
  defer(() => {
    if (!isOfConnection(error)) return of(1);
    return runChecks(target).pipe(
      map((findings) => {
        const failed = findings.filter(({ state }) => state === 'failed');
        if (failed.length === 0) return 1;
        const lines = formatFindings(failed, columnsOf(stderr, 100), paintFor(stderr, env));
        stderr.write(`\n${lines.join('\n')}\n`);
        return exitCodeOf(failed);
      }),
    );
  });

/** Whether an error may come from the address, the token or the state of a service, and not from the content of the request. */
function isOfConnection(error: unknown): boolean {
  if (!isLedgerError(error)) return false;
  switch (error._tag) {
    case 'ConnectionError':
    case 'RequestTimeoutError':
    case 'UnauthorizedError':
    case 'TokenError':
    case 'AnswerTooLargeError':
    case 'DecodeError':
      return true;
    case 'ApiError':
      return error.code === undefined || ![400, 404].includes(error.status);
    default:
      return false;
  }
}
