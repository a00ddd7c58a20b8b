import { catchError, concatAll, defer, type Observable, type ObservableInput, tap } from 'rxjs';
import type { Offset } from '../../codecs/scalars.js';
import type { SnapshotStarted } from '../../diagnostics/ContractsDiagnostic.js';
import { type ApiError, isApiError } from '../../errors/ApiError.js';
import { isPrunedError, isSnapshotLimitError, LedgerResetError, SnapshotLimitError } from '../../errors/feed.js';
import { isLedgerError, type LedgerError } from '../../errors/LedgerError.js';
import { isTransient } from '../../errors/verdict.js';
import { isUnavailable, ledgerEnd } from '../../feed/ledgerEnd.js';
import { retryTransient } from '../../http/retry.js';
import type { ContractsSource } from '../ContractsSource.js';
import { readLists } from './lists.js';
import { readPages } from './pages.js';
import { noLimit, type Snapshot } from './request.js';
import { snapshotsOf } from './ServiceSnapshots.js';
import type { SnapshotPart } from './SnapshotPart.js';
import { readSocket } from './socket.js';
import { readFromUpdates } from './updates.js';

/**
 * Emits the ledger end; `undefined` if the participant does not serve it. Retries after a transient failure, and for a
 * while if the ledger end is before the offset that it must have reached.
 */
export const findOffset = (source: ContractsSource, notBefore = 0): Observable<Offset | undefined> =>
  ledgerEnd(source.service.link).pipe(
    tap((end) => {
      if (end < notBefore) throw new LedgerResetError(notBefore, end);
    }),
    catchError((error: unknown) => {
      if (!isMissing(error)) throw error;
      return [undefined];
    }),
    retryTransient(source),
  );

/** Whether the participant does not serve a path, or a gateway blocks it. */
export const isMissing = (error: unknown): error is ApiError => isApiError(error) && isUnavailable(error);

/**
 * Reads the snapshot at an offset with the first transport that the participant serves and that can send everything. At
 * 0 no contract is active: a page requested at 0 would be one at the ledger end.
 *
 * @param isRepeated - whether to read all updates even if the participant serves nothing else, which may be temporary.
 * Otherwise that is an error
 */
export const readAt = (snapshot: Snapshot, isRepeated: boolean): ObservableInput<SnapshotPart> => {
  const { source, offset } = snapshot;
  const readBy = ([first, ...others]: readonly SnapshotTransport[], failure?: LedgerError): Observable<SnapshotPart> =>
    defer(() => {
      const mustRepeat = first?.by === 'updates' && !isRepeated && isMissing(failure);
      if (first === undefined || mustRepeat) throw failure ?? new SnapshotLimitError(0, offset ?? 0);
      const { by, read } = first;
      let hasEntries = false;
      source.report(() => ({ _tag: 'SnapshotStarted', by, ...(offset !== undefined && { offset }) }));
      const started: SnapshotPart = { _tag: 'SnapshotStarted' };
      return defer(() => [[started], read()]).pipe(
        concatAll(),
        tap({
          next: ({ _tag }) => {
            hasEntries = _tag === 'SnapshotEntries';
          },
          complete: () => {
            if (by !== 'pages') snapshotsOf(source.service).pagesMissing();
          },
        }),
        catchError((error: unknown) => {
          const isRefused = by === 'socket' && !hasEntries && isLedgerError(error) && isTransient(error);
          // pruned updates only mean that they cannot replace a snapshot
          const isPruned = by === 'updates' && isPrunedError(error);
          if (!isRefused && !isPruned && !isMissing(error) && !isSnapshotLimitError(error)) throw error;
          // the error of lists says more than that of pages
          if (isPruned || (by === 'pages' && offset !== undefined)) return readBy(others, failure);
          // a socket may succeed later
          return readBy(others, isRefused ? error : (failure ?? error));
        }),
      );
    });
  return offset === 0
    ? [{ _tag: 'SnapshotStarted' }, { _tag: 'SnapshotCompleted', offset: 0 }]
    : readBy(transportsOf(snapshot));
};

/** A way to read a snapshot. */
interface SnapshotTransport {
  readonly by: SnapshotStarted['by'];
  readonly read: () => Observable<SnapshotPart>;
}

/** Returns the ways to read a snapshot, best first. All except the first and the last need its offset. */
function transportsOf(snapshot: Snapshot): readonly SnapshotTransport[] {
  const { source, offset } = snapshot;
  const { service, transport } = source;
  const transports: SnapshotTransport[] = [];
  const add = (by: SnapshotTransport['by'], read: SnapshotTransport['read']): void => {
    transports.push({ by, read });
  };
  if (snapshotsOf(service).hasPages) add('pages', () => readPages(snapshot));
  if (offset !== undefined) {
    const at = { ...snapshot, offset };
    add('lists', () => readLists(at));
    if (transport !== undefined) add('socket', () => readSocket(at, transport));
    add('lists', () => readLists(at, () => noLimit));
  }
  add('updates', () => readFromUpdates(snapshot));
  return transports;
}
