import { concatMap, defer, type Observable, takeWhile } from 'rxjs';
import { createLedgerFeed } from '../../feed/LedgerFeed.js';
import { steps } from '../../feed/updates.js';
import { updateFormatOf } from '../ContractQuery.js';
import type { Snapshot } from './request.js';
import type { SnapshotPart } from './SnapshotPart.js';

/**
 * Reads all updates up to the offset of a snapshot. A ledger that is pruned does not have them all, which is a `PrunedError`.
 * Without an offset, the snapshot is at the end of the ledger.
 *
 * It is a feed of its own, with its own diagnostics.
 */
export const readFromUpdates = ({ source, eventFormat, offset }: Snapshot): Observable<SnapshotPart> =>
  defer(() => {
    const { service, updates, retry } = source;
    const request = { beginExclusive: 0, endInclusive: offset, updateFormat: updateFormatOf(eventFormat) };
    const options = { ...updates, transport: 'http', retry } as const;
    const feed = createLedgerFeed(service, request, options, undefined, service.reportForNewFeed());
    return steps(feed).pipe(
      concatMap(({ position, page }): readonly SnapshotPart[] => {
        if (page?.failure !== undefined) throw page.failure;
        const isLast = position.next === 'end' || (offset === undefined && position.hasCaughtUp);
        const part: SnapshotPart = { _tag: 'SnapshotUpdates', updates: page?.updates ?? [] };
        return isLast ? [part, { _tag: 'SnapshotCompleted', offset: position.cursor }] : [part];
      }),
      // without an offset the feed does not end by itself
      takeWhile(({ _tag }) => _tag !== 'SnapshotCompleted', true),
    );
  });
