import { concatMap, defer, finalize, type Observable } from 'rxjs';
import type { ContractEntry } from '../../codecs/ContractEntry.js';
import type { Offset } from '../../codecs/scalars.js';
import { eventFormatOf } from '../../contracts/ContractQuery.js';
import { ContractsFold } from '../../contracts/ContractsFold.js';
import type { ContractsSource } from '../../contracts/ContractsSource.js';
import { makeContract } from '../../contracts/makeContract.js';
import { applyToEntries, type Entries } from '../../contracts/snapshot/entriesOfUpdates.js';
import { readSnapshot } from '../../contracts/snapshot/readSnapshot.js';
import { type ContractLine, entryOfLine, toContractLine } from './ContractLine.js';
import type { ContractsOptions } from './ContractsOptions.js';
import { Spool } from './Spool.js';

/** A snapshot that is complete. */
export interface Snapshot {
  readonly offset: Offset;
  /** The contracts, each once and where it is now, as JSON. */
  readonly contracts: () => Iterable<ContractText>;
}

/** A contract, as one line of JSON. */
export interface ContractText {
  /** `#package-name:Module:Entity`. */
  readonly type: string;
  readonly json: string;
  readonly isInFlight: boolean;
}

/**
 * Reads a snapshot, and prints it when nothing is missing.
 *
 * Memory stays flat: most contracts are spooled as they come. Only those that are being reassigned are held, because the
 * ledger lists at the end what has become of their entries.
 *
 * @param onProgress - called with the number of entries so far
 * @param print - prints the snapshot. Its contracts can be read until that completes
 */
export const printLines = (
  source: ContractsSource,
  { query, at }: Pick<ContractsOptions, 'query' | 'at'>,
  onProgress: (count: number) => void,
  print: (snapshot: Snapshot) => Observable<never>,
): Observable<never> =>
  defer(() => {
    const make = makeContract(query.types);
    const spool = new Spool();
    let reassigned: ContractEntry[] = [];
    let ofUpdates: Entries = new Map();
    let count = 0;
    const add = (entry: ContractEntry): void => {
      count += 1;
      if (entry._tag === 'ActiveContract') {
        const { createdEvent, synchronizerId, reassignmentCounter } = entry;
        const contract = make(createdEvent, { synchronizerId }, reassignmentCounter);
        if (contract !== undefined) spool.add(toSpooled(toContractLine(contract)));
        return;
      }
      if (entry._tag === 'UnknownContractEntry')
        throw new Error('the ledger sent an entry of an unknown kind: a later version of canton-rx may read it');
      reassigned.push(entry);
    };
    return readSnapshot(source, { eventFormat: eventFormatOf(query), activeAtOffset: at }).pipe(
      concatMap((part): readonly Snapshot[] => {
        switch (part._tag) {
          case 'SnapshotStarted':
            spool.clear();
            reassigned = [];
            ofUpdates = new Map();
            count = 0;
            break;
          case 'SnapshotEntries':
            part.entries.forEach(add);
            break;
          case 'SnapshotUpdates':
            for (const update of part.updates) applyToEntries(source.service.updatesPath, ofUpdates, update);
            count += part.updates.length;
            break;
          case 'SnapshotCompleted':
            for (const entry of ofUpdates.values()) if (entry !== undefined) add(entry);
            return [{ offset: part.offset, contracts: () => contractsOf(spool, reassigned, new ContractsFold(make)) }];
        }
        onProgress(count);
        return [];
      }),
      concatMap(print),
      finalize(() => {
        spool.clear();
      }),
    );
  });

/**
 * The id and the type in front of the line itself, so that most lines need not be parsed again. As JSON they have no tab and no
 * line feed, whatever the ledger sent.
 */
const toSpooled = (line: ContractLine): string =>
  [line.contractId, line.type, line].map((part) => JSON.stringify(part)).join('\t');

/** The contracts of a spool. Those that are being reassigned come last, from the fold. */
function* contractsOf(
  spool: Spool,
  reassigned: readonly ContractEntry[],
  fold: ContractsFold<ReturnType<ReturnType<typeof makeContract>> & object>,
): Generator<ContractText, void> {
  const ids = new Set(reassigned.map((entry) => JSON.stringify(contractIdOf(entry))));
  for (const spooled of spool.lines()) {
    const [contractId = '', type = ''] = spooled.split('\t', 2);
    const json = spooled.slice(contractId.length + type.length + 2);
    if (!ids.has(contractId)) {
      yield { type: JSON.parse(type) as string, json, isInFlight: false };
      continue;
    }
    // written by this process
    const entry = entryOfLine(JSON.parse(json) as ContractLine);
    if (entry !== undefined) fold.load([entry]);
  }
  fold.load(reassigned);
  fold.settle();
  for (const contract of fold.contracts.values()) {
    const line = toContractLine(contract);
    yield { type: line.type, json: JSON.stringify(line), isInFlight: 'inFlight' in contract.location };
  }
}

function contractIdOf(entry: ContractEntry): string | undefined {
  switch (entry._tag) {
    case 'ActiveContract':
    case 'IncompleteUnassigned':
      return entry.createdEvent.contractId;
    case 'IncompleteAssigned':
      return entry.assignedEvent.createdEvent.contractId;
    case 'UnknownContractEntry':
      return undefined;
  }
}
