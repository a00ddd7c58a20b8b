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

/** The path of lists, and of their WebSocket. */
export const listPath = '/v2/state/active-contracts';

/** The maximum number of elements in a list of a participant, unless it is configured otherwise. */
const defaultMaxElements = 200;

const decodeList = decodeWith(listPath, list(ContractElement));

/** The request for a list, from its beginning or after the element with the token. */
export const listBody = ({ eventFormat, offset }: Snapshot, streamContinuationToken: string | undefined): object => ({
  activeAtOffset: offset,
  eventFormat,
  streamContinuationToken,
});

/** The token after an element. Before 3.5.1 there is none. An empty one would be refused. */
export const tokenOf = (element: ContractElement | undefined): string | undefined =>
  tokenIn(element?.streamContinuationToken);

/**
 * Reads a snapshot in lists, each of which continues after the last element of the one before. Never with an idle timeout,
 * which would make a slow list a short one. A service that gives no token may have more than the first list, and nothing
 * says so: that is a `SnapshotLimitError`.
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
