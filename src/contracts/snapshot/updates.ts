import { catchError, concatAll, concatMap, defer, type Observable, type ObservableInput, takeWhile } from 'rxjs';
import type { Report } from '../../diagnostics/Diagnostic.js';
import { LedgerResetError } from '../../errors/feed.js';
import { createLedgerFeed } from '../../feed/LedgerFeed.js';
import { isBeyondEnd, requestPage } from '../../feed/pageRequest.js';
import { steps } from '../../feed/updates.js';
import { retryTransient } from '../../http/retry.js';
import { updateFormatOf } from '../ContractQuery.js';
import type { Snapshot } from './request.js';
import type { SnapshotPart } from './SnapshotPart.js';

/**
 * Reads all updates up to the offset of a snapshot. Fails with a `PrunedError` if the ledger is pruned, because it then
 * lacks some of them. Without an offset, the snapshot is at the ledger end.
 */
export const readFromUpdates = ({ source, eventFormat, offset }: Snapshot): Observable<SnapshotPart> =>
  defer(() => {
    const { service, updates, retry } = source;
    const request = { beginExclusive: 0, endInclusive: offset, updateFormat: updateFormatOf(eventFormat) };
    const feed = createLedgerFeed(service, request, { ...updates, transport: 'http' }, retry, reportOf(source.report));
    return steps(feed).pipe(
      concatMap(({ position: { cursor, next, hasCaughtUp }, page }): ObservableInput<SnapshotPart> => {
        if (page?.failure !== undefined) throw page.failure;
        const part: SnapshotPart = { _tag: 'SnapshotUpdates', updates: page?.updates ?? [] };
        const completed: SnapshotPart = { _tag: 'SnapshotCompleted', offset: cursor };
        if (next === 'end') return [part, completed];
        if (!hasCaughtUp) return [part];
        // an idle poll does not prove that the ledger ends here: the participant may be slow
        const range = { beginExclusive: cursor, endInclusive: offset ?? cursor + 1 };
        const proof$ = requestPage(feed, range, { limit: 1 }).pipe(
          concatMap((): SnapshotPart[] => []),
          catchError((error: unknown) => {
            if (!isBeyondEnd(error)) throw error;
            if (offset !== undefined) throw new LedgerResetError(offset, cursor);
            return [completed];
          }),
          retryTransient(source),
        );
        return defer(() => [[part], proof$]).pipe(concatAll());
      }),
      // without an offset the feed does not end by itself
      takeWhile(({ _tag }) => _tag !== 'SnapshotCompleted', true),
    );
  });

/**
 * Passes on what the feed learns about the participant, and its retries. The caller did not start this feed and need
 * not know how it ends.
 */
const reportOf =
  (report: Report): Report =>
  (body) => {
    const diagnostic = body();
    if (/^(Retry|Endpoint|PageLimit)/.test(diagnostic._tag)) report(() => diagnostic);
  };
