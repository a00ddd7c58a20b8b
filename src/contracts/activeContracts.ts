import { concatMap, defer, type Observable } from 'rxjs';
import type { ContractEntry } from '../codecs/ContractEntry.js';
import { Offset } from '../codecs/scalars.js';
import { InvalidRequestError } from '../errors/request.js';
import { connectionOf } from '../ledger/connection.js';
import type { LedgerReader } from '../ledger/Ledger.js';
import { type ContractQuery, eventFormatOf } from './ContractQuery.js';
import { type ContractsOptions, contractsSource } from './ContractsSource.js';
import { applyToEntries, type Entries } from './snapshot/entriesOfUpdates.js';
import { readSnapshot } from './snapshot/readSnapshot.js';

/**
 * The snapshot to read: the contracts of some types that some parties see as stakeholders.
 *
 * @category Contracts
 */
export interface ActiveContractsRequest extends ContractQuery {
  /**
   * The offset of the snapshot: the contracts that were active right after its update. It must not be pruned, nor be after
   * the ledger end. Default: the ledger end.
   */
  readonly activeAtOffset?: Offset | undefined;
}

/**
 * Reads one snapshot of the active contracts, entry by entry as the participant has them: a contract that is being reassigned
 * may have several, see {@link ContractEntry}. `contractChanges` tells what they mean together, gives each contract once with
 * its payload decoded, and then follows the changes.
 *
 * Nothing is emitted before the participant has proven that nothing is missing. Until then all entries are held in memory, so
 * that a snapshot that begins again, because its offset was pruned meanwhile, for example, shows no entry twice. That takes
 * about as much memory as the JSON of the answers: 150 MB for 100 000 contracts of 1.2 kB. Then they are emitted at once. A
 * query with fewer types or parties needs less.
 *
 * Cold: each subscription reads a snapshot of its own. Transient failures are retried. It ends with a `LedgerError`, such as
 * an `ApiError` for an unknown template, a `DecodeError`, a `PrunedError` if `activeAtOffset` is pruned, a
 * `LedgerResetError` if it is after the ledger end, or a `SnapshotLimitError`. A query without parties is a TypeError.
 *
 * @throws TypeError for options that are invalid, and for an object that is no ledger
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
    );
  });
}
