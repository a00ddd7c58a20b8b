import { distinctUntilChanged, filter, ignoreElements, map, type Observable, tap } from 'rxjs';
import type { Diagnostic } from '../diagnostics/Diagnostic.js';
import type { Ledger } from '../ledger/Ledger.js';
import type { Output } from './output.js';
import { shortReason } from './progress.js';
import { errorLine } from './World.js';

/**
 * Reports to stderr when the requests to a ledger begin to fail, and when they succeed again, while subscribed: once for each
 * outage. For commands without a status line.
 *
 * @param address - the host and port of the ledger
 */
export const retryNotices = (
  { diagnostics$ }: Pick<Ledger, 'diagnostics$'>,
  address: string,
  stderr: Output,
): Observable<never> =>
  diagnostics$.pipe(
    map((diagnostic) => ({ diagnostic, isFailing: isFailing(diagnostic) })),
    filter(({ isFailing }) => isFailing !== undefined),
    distinctUntilChanged((a, b) => a.isFailing === b.isFailing),
    // a success before the first failure is not news
    filter(({ isFailing }, index) => isFailing === true || index > 0),
    tap(({ diagnostic }) => {
      const text =
        diagnostic._tag === 'RetryScheduled'
          ? `requests to ${address} fail (${shortReason(diagnostic.cause)}); retrying`
          : `${address} responds again`;
      stderr.write(errorLine(text));
    }),
    ignoreElements(),
  );

/** Whether requests fail, by a diagnostic that shows it. */
function isFailing({ _tag }: Diagnostic): boolean | undefined {
  switch (_tag) {
    case 'RetryScheduled':
      return true;
    case 'PageReceived':
    case 'SnapshotPageReceived':
    case 'SocketOpened':
    case 'CaughtUp':
      return false;
    default:
      return undefined;
  }
}
