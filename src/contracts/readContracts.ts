import { defer, mergeMap, type Observable } from 'rxjs';
import type { ContractEntry } from '../codecs/ContractEntry.js';
import type { Offset } from '../codecs/scalars.js';
import type { EventFormat } from '../codecs/UpdateFormat.js';
import { DecodeError, LedgerResetError } from '../errors/feed.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { retryTransient } from '../http/retry.js';
import { type AnyContract, assertDecoded, makeContract, type MakeContract } from './Contract.js';
import type { ContractPolicies, ContractQuery } from './ContractQuery.js';
import { ContractsFold } from './ContractsFold.js';
import type { ContractsSource } from './ContractsSource.js';
import { readSnapshot, type SnapshotRequest } from './snapshot/readSnapshot.js';
import { listPath } from './snapshot/transports.js';

/** All contracts at an offset. */
interface LoadedContracts {
  readonly fold: ContractsFold<AnyContract>;
  readonly offset: Offset;
}

/** Where to read contracts: at an offset, or at a ledger end that is not before an offset. */
type Moment = Pick<SnapshotRequest, 'activeAtOffset' | 'notBefore'>;

/** Reads the contracts of a query, and emits them when they are complete. */
export function readContracts(
  source: ContractsSource,
  query: ContractQuery & ContractPolicies,
  eventFormat: EventFormat,
  at: Moment,
): Observable<LoadedContracts> {
  const makeFold = (): ContractsFold<AnyContract> => new ContractsFold(maker(source, query));
  const { activeAtOffset, notBefore = 0 } = at;
  if (activeAtOffset === 0) return defer(() => [{ fold: makeFold(), offset: 0 }]);
  let fold = makeFold();
  return readSnapshot(source, { eventFormat, activeAtOffset, notBefore }).pipe(
    mergeMap((part): readonly LoadedContracts[] => {
      switch (part._tag) {
        case 'SnapshotStarted':
          fold = makeFold();
          return [];
        case 'SnapshotEntries':
          part.entries.forEach(assertKnown);
          fold.load(part.entries);
          return [];
        case 'SnapshotCompleted': {
          const { offset } = part;
          // from a replica that lags: the contracts would be older than the emitted changes
          if (offset < notBefore) throw new LedgerResetError(notBefore, offset);
          fold.settle();
          return [{ fold, offset }];
        }
      }
    }),
    // for an offset that the participant chooses; other errors have been retried
    retryTransient(source, (error) => isLedgerError(error, 'LedgerResetError') && !('retried' in error)),
  );
}

/** Returns the function that makes contracts according to the query's policy for undecodable ones. */
function maker({ report }: ContractsSource, { types, onUndecodable }: ContractQuery & ContractPolicies): MakeContract {
  if (onUndecodable !== 'fail')
    return makeContract(types, ({ contractId, expectedType, problems }) => {
      report(() => ({ _tag: 'ContractUndecoded', contractId, expectedType, problems }));
    });
  const make = makeContract(types);
  return (...args) => {
    const contract = make(...args);
    if (contract !== undefined) assertDecoded(contract);
    return contract;
  };
}

/** Throws a DecodeError for an unknown kind of entry: without it, the contracts might be wrong. */
function assertKnown({ _tag }: ContractEntry): void {
  if (_tag === 'UnknownContractEntry')
    throw new DecodeError(listPath, [{ path: 'contractEntry', expected: 'an entry of a known kind' }]);
}
