import { concatMap, defer, type Observable } from 'rxjs';
import type { ContractEntry } from '../codecs/ContractEntry.js';
import { Offset } from '../codecs/scalars.js';
import { InvalidRequestError } from '../errors/request.js';
import { reportEnd } from '../feed/updates.js';
import { connectionOf } from '../ledger/connection.js';
import type { LedgerReader } from '../ledger/Ledger.js';
import { type ContractQuery, eventFormatOf } from './ContractQuery.js';
import { type ContractsOptions, contractsSource } from './ContractsSource.js';
import { applyToEntries, type Entries } from './snapshot/entriesOfUpdates.js';
import { readSnapshot } from './snapshot/readSnapshot.js';

/**
 * The snapshot to read: the contracts of the given types of which the given parties are stakeholders.
 *
 * @category Contracts
 */
export interface ActiveContractsRequest extends ContractQuery {
  /**
   * The offset of the snapshot, which has the contracts that were active right after the update at that offset. It must
   * not be pruned or after the ledger end. Default: the ledger end.
   */
  readonly activeAtOffset?: Offset | undefined;
}

/**
 * Reads one snapshot of the active contracts and emits its entries as the participant sends them. A contract that is
 * being reassigned may have several entries, see {@link ContractEntry}. To get each contract once, with its payload
 * decoded and followed by its changes, use `contractChanges`.
 *
 * Emits nothing until the participant has proven that the snapshot is complete, then emits all entries at once. Until
 * then all entries are held in memory, so that a snapshot that has to begin again, for example because its offset was
 * pruned, shows no entry twice. This takes about as much memory as the JSON of the responses: 150 MB for 100 000
 * contracts of 1.2 kB. A query with fewer types or parties needs less.
 *
 * Cold: each subscription reads a separate snapshot. Transient failures are retried. Ends with a `LedgerError`, such as
 * an `ApiError` for an unknown template, a `DecodeError`, a `PrunedError` if `activeAtOffset` is pruned, a
 * `LedgerResetError` if it is after the ledger end, or a `SnapshotLimitError`.
 *
 * @throws TypeError for invalid options, for a query without parties, and if `ledger` was not created by this library
 * @example
 * ```ts
 * import { createLedger } from 'canton-rx';
 * import { activeContracts } from 'canton-rx/contracts';
 *
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575' });
 * activeContracts(ledger, { parties: ['alice::1220ab'] }).subscribe((entry) => {
 *   if (entry._tag === 'ActiveContract') console.log(entry.createdEvent.contractId, entry.synchronizerId);
 * });
 * ```
 *
 * @category Contracts
 */
export function activeContracts(
  ledger: LedgerReader,
  request: ActiveContractsRequest,
  options: ContractsOptions = {},
): Observable<ContractEntry> {
  const sourceOf = contractsSource(ledger, options);
  return defer(() => {
    const { activeAtOffset } = request;
    if (activeAtOffset !== undefined && !Offset.is(activeAtOffset))
      throw new InvalidRequestError([{ path: 'activeAtOffset', expected: Offset.name }]);
    const source = sourceOf(connectionOf(ledger)?.service.newFeed() ?? 0);
    let entries: ContractEntry[] = [];
    let ofUpdates: Entries = new Map();
    return readSnapshot(source, { eventFormat: eventFormatOf(request), activeAtOffset }).pipe(
      concatMap((part) => {
        switch (part._tag) {
          case 'SnapshotStarted':
            entries = [];
            ofUpdates = new Map();
            return [];
          case 'SnapshotEntries':
            for (const entry of part.entries) entries.push(entry);
            return [];
          case 'SnapshotUpdates':
            for (const update of part.updates) applyToEntries(source.service.updatesPath, ofUpdates, update);
            return [];
          case 'SnapshotCompleted':
            return [...entries, ...ofUpdates.values()].filter((entry) => entry !== undefined);
        }
      }),
      reportEnd(source.report),
    );
  });
}
