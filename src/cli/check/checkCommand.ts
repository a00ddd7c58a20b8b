import { catchError, concatMap, defer, endWith, of, type Observable } from 'rxjs';
import { flushed } from '../flushed.js';
import { hasCode } from '../hasCode.js';
import { help } from '../help.js';
import { messageOf } from '../messageOf.js';
import { columnsOf } from '../text/columnsOf.js';
import { escapedLine } from '../text/escapedLine.js';
import { paintFor } from '../text/paintFor.js';
import { statusLine } from '../text/statusLine.js';
import type { World } from '../World.js';
import { findings } from './findings.js';
import { readCheckOptions } from './readCheckOptions.js';
import { reportOf } from './reportOf.js';
import { reportText } from './reportText.js';

/** `canton-rx check`; emits the exit code, once. */
export function checkCommand(args: readonly string[], { env, stdout, stderr }: World): Observable<number> {
  const options = readCheckOptions(args, env);
  if (options === 'help') {
    stdout.write(`${help.check}\n`);
    return of(0);
  }
  const status = statusLine(stderr, paintFor(stderr, env));
  return defer(() => {
    status.show((paint) => paint('dim', 'asking the ledger …'));
    return findings(options);
  }).pipe(
    concatMap((found) => {
      status.clear();
      const report = reportOf(options.ledger, found);
      stdout.write(
        options.isJson
          ? escapedLine(`${JSON.stringify(report)}\n`)
          : reportText(report, columnsOf(stdout, 100), paintFor(stdout, env)),
      );
      return flushed(stdout).pipe(
        endWith(report.exitCode),
        catchError((error: unknown) => {
          // who has read enough
          if (hasCode(error, 'EPIPE')) return of(report.exitCode);
          stderr.write(`stdout cannot be written to: ${messageOf(error)}\n`);
          return of(1);
        }),
      );
    }),
  );
}
