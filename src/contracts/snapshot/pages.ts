import { concatMap, type Observable } from 'rxjs';
import { ActiveContractsPage } from '../../codecs/ContractEntry.js';
import { decodeWith } from '../../http/exchange.js';
import { type Answer, entriesOf, readAnswers, type Snapshot } from './request.js';
import { snapshotsOf } from './ServiceSnapshots.js';
import type { SnapshotPart } from './SnapshotPart.js';

const path = '/v2/state/active-contracts-page';

const decodePage = decodeWith(path, ActiveContractsPage);

/**
 * Reads a snapshot in pages, which participants serve since 3.5.10. The token of a page is only valid in a request that
 * is otherwise equal to the first; only the size of the page may differ.
 */
export const readPages = (snapshot: Snapshot): Observable<SnapshotPart> => {
  const { source, eventFormat, offset } = snapshot;
  return readAnswers(snapshot, (pageToken) => ({
    path,
    limitOf: () => Math.min(source.maxSnapshotPageSize, snapshotsOf(source.service).limit),
    call: (maxPageSize) => ({ body: { activeAtOffset: offset, eventFormat, maxPageSize, pageToken } }),
    read: (json) => {
      const { activeContracts, activeAtOffset, nextPageToken } = decodePage(json);
      return { elements: activeContracts, offset: activeAtOffset, next: tokenIn(nextPageToken) };
    },
  })).pipe(concatMap(toParts));
};

/** Returns a token, or `undefined` for an empty one, which stands for none. */
export const tokenIn = (text: string | undefined): string | undefined => (text === '' ? undefined : text);

/** Returns the parts of a response: its entries, and the end of the snapshot if it is the last response. */
export const toParts = ({ elements, offset, next }: Answer): readonly SnapshotPart[] => {
  const part: SnapshotPart = { _tag: 'SnapshotEntries', entries: entriesOf(elements) };
  return next === undefined ? [part, { _tag: 'SnapshotCompleted', offset }] : [part];
};
