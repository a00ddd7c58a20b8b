import { concatMap, type Observable } from 'rxjs';
import { ContractElement } from '../../codecs/ContractEntry.js';
import { list } from '../../codecs/internal/collection.js';
import type { Offset } from '../../codecs/scalars.js';
import { SnapshotLimitError } from '../../errors/feed.js';
import { decodeWith } from '../../http/exchange.js';
import { tokenIn, toParts } from './pages.js';
import { readAnswers, type Snapshot } from './request.js';
import { snapshotsOf } from './ServiceSnapshots.js';
import type { SnapshotPart } from './SnapshotPart.js';

/** The path of lists, for HTTP and for WebSockets. */
export const listPath = '/v2/state/active-contracts';

/** The maximum number of elements in a list, unless the participant is configured otherwise. */
const defaultMaxElements = 200;

const decodeList = decodeWith(listPath, list(ContractElement));

/** Returns the request for a list, from its beginning or after the element with the token. */
export const listBody = ({ eventFormat, offset }: Snapshot, streamContinuationToken: string | undefined): object => ({
  activeAtOffset: offset,
  eventFormat,
  streamContinuationToken,
});

/** Returns the token after an element. Participants before 3.5.1 send none. An empty token would be rejected. */
export const tokenOf = (element: ContractElement | undefined): string | undefined =>
  tokenIn(element?.streamContinuationToken);

/**
 * Reads a snapshot in lists, each of which continues after the last element of the previous one. Never sets an idle
 * timeout, which would make a slow list look like a short one. If the participant sends no token, the list may be
 * incomplete without any sign of it: that is a `SnapshotLimitError`.
 *
 * @param limitOf - the maximum number of elements in a list
 */
export const readLists = (
  snapshot: Snapshot<Offset>,
  limitOf = (): number => {
    const { service, maxSnapshotPageSize } = snapshot.source;
    return Math.min(maxSnapshotPageSize, defaultMaxElements, snapshotsOf(service).limit);
  },
): Observable<SnapshotPart> => {
  const { offset } = snapshot;
  return readAnswers(snapshot, (token) => ({
    path: listPath,
    limitOf,
    call: (limit) => ({ query: { limit }, body: listBody(snapshot, token) }),
    read: (json, limit) => {
      const elements = decodeList(json);
      const isFull = elements.length >= limit;
      const next = isFull ? tokenOf(elements.at(-1)) : undefined;
      if (isFull && next === undefined) throw new SnapshotLimitError(elements.length, offset);
      return { elements, offset, next };
    },
  })).pipe(concatMap(toParts));
};
