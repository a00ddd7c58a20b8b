import { concatMap, type Observable } from 'rxjs';
import type { ContractEntry } from '../codecs/ContractEntry.js';
import { Offset, type Party } from '../codecs/scalars.js';
import { InvalidRequestError } from '../errors/request.js';
import { reportEnd } from '../feed/updates.js';
import type { LedgerReader } from '../ledger/Ledger.js';
import {
  type ContractQuery,
  type ContractsOptions,
  type ContractsSource,
  eventFormatOf,
  readFrom,
} from './ContractQuery.js';
import { readSnapshot } from './snapshot/readSnapshot.js';

/**
 * The snapshot to read: the contracts of the given types of which the given parties are stakeholders.
 *
 * @category Contracts
 */
export interface ActiveContractsRequest extends ContractQuery {
  /**
   * The parties, at least one. `'any'` selects every party of the participant and requires a token that may read as any
   * party.
   */
  readonly parties: readonly Party[] | 'any';
  /**
   * The offset of the snapshot, which has the contracts that were active right after the update at that offset. It must
   * not be pruned or after the ledger end. Default: the ledger end.
   */
  readonly activeAtOffset?: Offset | undefined;
}

/**
 * Options of {@link activeContracts}.
 *
 * @category Contracts
 */
export interface ActiveContractsOptions extends ContractsOptions {
  /**
   * Called when the snapshot begins again: what was emitted so far does not count. With it, entries are emitted as they
   * arrive, in the memory of a page, and the snapshot is complete only when the Observable completes. It suits a caller
   * that writes the entries elsewhere, and can remove them.
   *
   * @defaultValue none: nothing is emitted until the snapshot is complete
   */
  readonly onRestart?: (() => void) | undefined;
}

/**
 * Reads one snapshot of the active contracts and emits its entries as the participant sends them. A contract that is
 * being reassigned may have several entries, see {@link ContractEntry}. To get each contract once, with its payload
 * decoded and followed by its changes, use `contractChanges`.
 *
 * Emits nothing until the participant has proven that the snapshot is complete, then emits all entries together. Until
 * then all entries are held in memory, so that a snapshot that has to begin again, for example because its offset was
 * pruned, shows no entry twice. This takes about as much memory as the JSON of the responses: 150 MB for 100 000
 * contracts of 1.2 kB. A query with fewer types or parties needs less, and `onRestart` needs none.
 *
 * Cold: each subscription reads a separate snapshot. Transient failures are retried. Ends with a `LedgerError`, such as
 * an `ApiError` for an unknown template, a `DecodeError`, a `PrunedError` if `activeAtOffset` is pruned, a
 * `LedgerResetError` if it is after the ledger end, or a `SnapshotLimitError`.
 *
 * @throws TypeError for invalid options, for a query without parties, and if the `updates` of the ledger were replaced
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
  options: ActiveContractsOptions = {},
): Observable<ContractEntry> {
  const { onRestart } = options;
  const read = (source: ContractsSource): Observable<ContractEntry> => {
    const { activeAtOffset } = request;
    if (activeAtOffset !== undefined && !Offset.is(activeAtOffset))
      throw new InvalidRequestError([{ path: 'activeAtOffset', expected: Offset.name }]);
    let entries: ContractEntry[] = [];
    let hasBegun = false;
    return readSnapshot(source, { eventFormat: eventFormatOf(request), activeAtOffset }).pipe(
      concatMap((part) => {
        switch (part._tag) {
          case 'SnapshotStarted':
            entries = [];
            if (hasBegun) onRestart?.();
            hasBegun = true;
            return [];
          case 'SnapshotEntries':
            if (onRestart !== undefined) return part.entries;
            for (const entry of part.entries) entries.push(entry);
            return [];
          case 'SnapshotCompleted':
            return entries;
        }
      }),
      reportEnd(source.report),
    );
  };
  return readFrom(ledger, options, read, { isEndless: false });
}
