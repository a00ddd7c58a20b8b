import {
  catchError,
  concat,
  concatAll,
  concatMap,
  defer,
  first,
  map,
  mergeMap,
  NEVER,
  type Observable,
  of,
  repeat,
  retry,
  takeUntil,
  tap,
  throwError,
  timer,
  toArray,
} from 'rxjs';
import type { ContractEntry } from '../codecs/ContractEntry.js';
import type { Offset } from '../codecs/scalars.js';
import type { EventFormat } from '../codecs/UpdateFormat.js';
import { DecodeError, LedgerResetError } from '../errors/feed.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { ledgerEnd } from '../feed/ledgerEnd.js';
import { exchange } from '../client/exchange.js';
import { jitter, retryTransient } from '../http/retry.js';
import { type AnyContract, makeContract, type MakeContract } from './Contract.js';
import {
  type ContractPolicies,
  type ContractQuery,
  type ContractsSource,
  eventFormatOf,
  type SelectedQuery,
} from './ContractQuery.js';
import { ContractsFold } from './ContractsFold.js';
import { UnpairedError } from './snapshot/pairHalves.js';
import { readSnapshot, type SnapshotRequest } from './snapshot/readSnapshot.js';
import { listBody, listPath } from './snapshot/transports.js';

/** All contracts at an offset. */
export interface LoadedContracts {
  readonly fold: ContractsFold<AnyContract>;
  readonly offset: Offset;
}

/** Where to read contracts: at an offset, or at a ledger end that is not before an offset. */
export interface Moment extends Pick<SnapshotRequest, 'activeAtOffset' | 'notBefore'> {
  /** Emits if the ledger is the one that is expected, and fails if it is not. Default: any ledger is. */
  readonly proof$?: Observable<unknown> | undefined;
}

/**
 * Reads the contracts of a query, and emits them when they are complete, and the ledger is proven to be the one that is
 * expected: another one may have taken its place in the meantime, also without a request that fails.
 */
export const readContracts = (
  source: ContractsSource,
  query: ContractQuery & ContractPolicies,
  eventFormat: EventFormat,
  { proof$ = of(true), ...at }: Moment,
): Observable<LoadedContracts> =>
  readOnce(source, query, eventFormat, at).pipe(
    catchError((error: unknown) => {
      if (!isLedgerError(error, 'PrunedError') && !(error instanceof UnpairedError)) throw error;
      return proof$.pipe(concatMap(() => throwError(() => error)));
    }),
    concatMap((contracts) => proof$.pipe(map(() => contracts))),
  );

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
export const maker = (
  { report }: Pick<ContractsSource, 'report'>,
  { types, onUndecodable }: ContractQuery & ContractPolicies,
): MakeContract =>
  makeContract(types, ({ contractId, expectedType, problems, templateId, offset }) => {
    if (onUndecodable === 'fail') throw new DecodeError(templateId, problems, offset);
    report(() => ({ _tag: 'ContractUndecoded', contractId, expectedType, problems }));
  });

/** Throws a DecodeError for an unknown kind of entry: without it, the contracts might be wrong. */
function assertKnown({ _tag }: ContractEntry): void {
  if (_tag === 'UnknownContractEntry')
    throw new DecodeError(listPath, [{ path: 'contractEntry', expected: 'an entry of a known kind' }]);
}

/**
 * Reads a query with those of its types that the participant knows, if the policy is to wait, and reads it again when
 * one of the others becomes known. Waits while no type is known.
 */
export function readKnownTypes<A>(
  source: ContractsSource,
  queryNow: () => SelectedQuery & ContractPolicies,
  read: (known: SelectedQuery & ContractPolicies) => Observable<A>,
): Observable<A> {
  const { types = {}, onUnknownPackage } = queryNow();
  const names = Object.keys(types);
  if (onUnknownPackage !== 'wait' || names.length === 0) return read(queryNow());
  return defer(() => {
    let unknown: readonly string[] = [];
    // how often the participant has rejected a request although it knows its types
    let refusals = 0;
    const setUnknown = (found: readonly string[]): void => {
      refusals = found.join() === unknown.join() ? refusals + 1 : 0;
      unknown = found;
    };
    return defer(() => {
      const known = Object.entries(types).filter(([name]) => !unknown.includes(name));
      // a query without types would match all contracts
      const read$ = known.length === 0 ? NEVER : read({ ...queryNow(), types: Object.fromEntries(known) });
      return read$.pipe(takeUntil(fewerUnknown(source, queryNow, unknown).pipe(tap(setUnknown))));
    }).pipe(
      retry({
        delay: (error) => {
          if (!isUnknownType(error)) throw error;
          return findUnknown(source, queryNow, names).pipe(
            retryTransient(source),
            tap(setUnknown),
            // the responses of a participant may contradict each other while it loads a package
            concatMap(() => timer(refusals === 0 ? 0 : jitter(refusals, source.retry))),
          );
        },
      }),
      repeat(),
    );
  });
}

const unknownCodes = [
  'PACKAGE_NAMES_NOT_FOUND',
  'NO_TEMPLATES_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME',
  'NO_INTERFACE_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME',
  // for a type with a package ID
  'TEMPLATES_OR_INTERFACES_NOT_FOUND',
];

/** Whether the participant does not know a type of a request. */
const isUnknownType = (error: unknown): boolean =>
  isLedgerError(error, 'ApiError') && unknownCodes.includes(error.code ?? '');

/** The wait before unknown types are checked again, in milliseconds. It doubles each time. */
const minWaitMs = 30_000;

/** The longest such wait, in milliseconds. */
const maxWaitMs = 15 * 60_000;

/**
 * Checks from time to time whether unknown types have become known, and never fails. Emits the types that are still
 * unknown once there are fewer.
 */
function fewerUnknown(
  source: ContractsSource,
  queryNow: () => SelectedQuery,
  unknown: readonly string[],
): Observable<readonly string[]> {
  if (unknown.length === 0) return NEVER;
  const wait = (searches: number): Observable<unknown> =>
    defer(() => {
      const retryInMs = Math.min(maxWaitMs, minWaitMs * 2 ** searches);
      source.report(() => ({ _tag: 'TypesUnknown', types: unknown, retryInMs }));
      return timer(retryInMs);
    });
  return wait(0).pipe(
    concatMap(() =>
      findUnknown(source, queryNow, unknown).pipe(
        // the next check may succeed, and the feed itself has not failed
        catchError(() => [unknown]),
        repeat({ delay: wait }),
      ),
    ),
    first((left) => left.length < unknown.length),
  );
}

/** Checks each type by itself: only the text of an error says which types of a request are unknown. */
const findUnknown = (source: ContractsSource, queryNow: () => SelectedQuery, names: readonly string[]) =>
  ledgerEnd(source.client).pipe(
    concatMap((end) => concat(...names.map((name) => ifUnknown(source, queryNow(), name, end)))),
    toArray(),
  );

/** Emits the name of a type if the participant does not know it. */
function ifUnknown(
  { client }: ContractsSource,
  { types = {}, ...query }: SelectedQuery,
  name: string,
  offset: Offset,
): Observable<string> {
  const alone = Object.entries(types).filter(([other]) => other === name);
  const body = listBody({ eventFormat: eventFormatOf({ ...query, types: Object.fromEntries(alone) }), offset });
  return exchange(client, { method: 'POST', path: listPath, query: { limit: 1 }, body }, () => []).pipe(
    catchError((error: unknown) => {
      if (isUnknownType(error)) return [[name]];
      // the ledger was pruned in the meantime; an unknown type would have failed earlier
      if (isLedgerError(error, 'PrunedError')) return [[]];
      throw error;
    }),
    concatAll(),
  );
}
