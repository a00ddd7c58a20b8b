import { catchError, concatMap, defer, map, mergeMap, type Observable, of, throwError } from 'rxjs';
import type { ContractEntry } from '../codecs/ContractEntry.js';
import type { Offset } from '../codecs/scalars.js';
import type { EventFormat } from '../codecs/UpdateFormat.js';
import type { Report } from '../diagnostics/Diagnostic.js';
import { DecodeError, LedgerResetError } from '../errors/feed.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { retryTransient } from '../http/retry.js';
import { type AnyContract, makeContract, type MakeContract } from './Contract.js';
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
interface Moment extends Pick<SnapshotRequest, 'activeAtOffset' | 'notBefore'> {
  /** Emits whether the ledger is the one that is expected. Default: any ledger is. */
  readonly isSameLedger$?: Observable<boolean> | undefined;
}

/**
 * Reads the contracts of a query, and emits them when they are complete. After an outage, another ledger may have taken
 * the place of the first: fails with a `LedgerResetError` if it is not the one that is expected.
 */
export const readContracts = (
  source: ContractsSource,
  query: ContractQuery & ContractPolicies,
  eventFormat: EventFormat,
  { isSameLedger$, ...at }: Moment,
): Observable<LoadedContracts> =>
  defer(() => {
    let hasFailed = false;
    const report: Report = (body) => {
      const diagnostic = body();
      hasFailed ||= diagnostic._tag === 'RetryScheduled' || diagnostic._tag === 'SnapshotRestarted';
      source.report(() => diagnostic);
    };
    if (isSameLedger$ === undefined) return readOnce(source, query, eventFormat, at);
    const proven$ = defer(() => (hasFailed ? isSameLedger$ : of(true))).pipe(
      map((isIt) => {
        if (!isIt) throw new LedgerResetError(at.activeAtOffset ?? at.notBefore ?? 0, undefined, difference);
      }),
    );
    return readOnce({ ...source, report }, query, eventFormat, at).pipe(
      catchError((error: unknown) => {
        if (!isLedgerError(error, 'PrunedError')) throw error;
        return proven$.pipe(concatMap(() => throwError(() => error)));
      }),
      concatMap((contracts) => proven$.pipe(map(() => contracts))),
    );
  });

const difference = 'it does not have the last update, or the participant has another id';

function readOnce(
  source: ContractsSource,
  query: ContractQuery & ContractPolicies,
  eventFormat: EventFormat,
  at: Pick<SnapshotRequest, 'activeAtOffset' | 'notBefore'>,
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
const maker = ({ report }: ContractsSource, { types, onUndecodable }: ContractQuery & ContractPolicies): MakeContract =>
  makeContract(types, ({ contractId, expectedType, problems, templateId, offset }) => {
    if (onUndecodable === 'fail') throw new DecodeError(templateId, problems, offset);
    report(() => ({ _tag: 'ContractUndecoded', contractId, expectedType, problems }));
  });

/** Throws a DecodeError for an unknown kind of entry: without it, the contracts might be wrong. */
function assertKnown({ _tag }: ContractEntry): void {
  if (_tag === 'UnknownContractEntry')
    throw new DecodeError(listPath, [{ path: 'contractEntry', expected: 'an entry of a known kind' }]);
}
