import { catchError, concatAll, defer, type Observable, type ObservableInput } from 'rxjs';
import type { Offset } from '../../codecs/scalars.js';
import type { SnapshotStarted } from '../../diagnostics/ContractsDiagnostic.js';
import { type ApiError, isApiError } from '../../errors/ApiError.js';
import { isPrunedError, isSnapshotLimitError, SnapshotLimitError } from '../../errors/feed.js';
import type { LedgerError } from '../../errors/LedgerError.js';
import { isUnavailable, ledgerEnd } from '../../feed/ledgerEnd.js';
import { retryTransient } from '../../http/retry.js';
import type { ContractsSource } from '../ContractsSource.js';
import { readLists } from './lists.js';
import { readPages } from './pages.js';
import { noLimit, type Snapshot } from './request.js';
import type { SnapshotPart } from './SnapshotPart.js';
import { readSocket } from './socket.js';
import { readFromUpdates } from './updates.js';

/** The ledger end; `undefined` if the service does not serve it. Retries after a transient failure. */
export const findOffset = (source: ContractsSource): Observable<Offset | undefined> =>
  ledgerEnd(source.service.link).pipe(
    catchError((error: unknown) => {
      if (!isMissing(error)) throw error;
      return [undefined];
    }),
    retryTransient(source),
  );

/** Whether the service does not serve a path, or a gateway blocks it. */
const isMissing = (error: unknown): error is ApiError => isApiError(error) && isUnavailable(error);

/**
 * Reads the snapshot at an offset, by the first transport that the service serves, and by which it sends everything. At 0
 * nothing is active: a page requested at 0 would be one at the ledger end.
 */
export const readAt = (snapshot: Snapshot): ObservableInput<SnapshotPart> =>
  snapshot.offset === 0
    ? [{ _tag: 'SnapshotStarted' }, { _tag: 'SnapshotCompleted', offset: 0 }]
    : readByFirst(transportsOf(snapshot), snapshot);

/** A way to read a snapshot. */
interface SnapshotTransport {
  readonly by: SnapshotStarted['by'];
  readonly read: () => Observable<SnapshotPart>;
}

/** How a snapshot can be read, the best way first. All but the first and the last need its offset. */
function transportsOf(snapshot: Snapshot): readonly SnapshotTransport[] {
  const { source, offset } = snapshot;
  const { service, transport } = source;
  const transports: SnapshotTransport[] = [];
  const add = (by: SnapshotTransport['by'], read: SnapshotTransport['read']): void => {
    transports.push({ by, read });
  };
  if (service.hasSnapshotPages) add('pages', () => readPages(snapshot));
  if (offset !== undefined) {
    const at = { ...snapshot, offset };
    add('lists', () => readLists(at));
    if (transport !== undefined) add('socket', () => readSocket(at, transport));
    add('lists', () => readLists(at, () => noLimit));
  }
  add('updates', () => readFromUpdates(snapshot));
  return transports;
}

/** @param failure - the error if there is no other transport */
const readByFirst = (
  [first, ...others]: readonly SnapshotTransport[],
  snapshot: Snapshot,
  failure?: LedgerError,
): Observable<SnapshotPart> =>
  defer(() => {
    const { source, offset } = snapshot;
    if (first === undefined) throw failure ?? new SnapshotLimitError(0, offset ?? 0);
    source.report(() => ({ _tag: 'SnapshotStarted', by: first.by, ...(offset !== undefined && { offset }) }));
    return defer((): ObservableInput<SnapshotPart>[] => [[{ _tag: 'SnapshotStarted' }], first.read()]).pipe(
      concatAll(),
      catchError((error: unknown) => {
        // that updates are pruned only means that they cannot replace a snapshot
        const isPruned = first.by === 'updates' && isPrunedError(error);
        if (!isPruned && !isMissing(error) && !isSnapshotLimitError(error)) throw error;
        if (first.by === 'pages') source.service.snapshotPagesMissing();
        return readByFirst(others, snapshot, isPruned || isSnapshotLimitError(failure) ? failure : error);
      }),
    );
  });
