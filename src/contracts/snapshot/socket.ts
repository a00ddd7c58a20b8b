import { concatAll, defer, map, type Observable } from 'rxjs';
import { ContractElement } from '../../codecs/ContractEntry.js';
import type { Offset } from '../../codecs/scalars.js';
import { isLedgerResetError } from '../../errors/feed.js';
import type { Transport } from '../../feed/Transport.js';
import { decodeWith } from '../../http/exchange.js';
import { retryTransient } from '../../http/retry.js';
import { listBody, listPath, tokenOf } from './lists.js';
import { entriesOf, resetIfBeyondEnd, type Snapshot } from './request.js';
import type { SnapshotPart } from './SnapshotPart.js';

const decodeElement = decodeWith(listPath, ContractElement);

/**
 * Reads a snapshot from a WebSocket, which has no limit. The transport completes only if the participant has sent all
 * elements.
 *
 * If the socket is cut, the next one continues after the last element. That requires a token, which participants before
 * 3.5 do not send and which does not exist before the first element. Without a token the error is passed on, and the
 * caller begins again.
 */
export const readSocket = (snapshot: Snapshot<Offset>, { readList }: Transport): Observable<SnapshotPart> =>
  defer(() => {
    const { source, offset } = snapshot;
    let token: string | undefined;
    const entries$ = defer(() => readList(source.service, listPath, listBody(snapshot, token))).pipe(
      map((json): SnapshotPart => {
        const element = decodeElement(json);
        token = tokenOf(element);
        return { _tag: 'SnapshotEntries', entries: entriesOf([element]) };
      }),
      resetIfBeyondEnd(snapshot),
      retryTransient(source, (error) => token !== undefined || isLedgerResetError(error)),
    );
    const completed: SnapshotPart = { _tag: 'SnapshotCompleted', offset };
    return defer(() => [entries$, [completed]]).pipe(concatAll());
  });
