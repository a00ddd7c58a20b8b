import {
  catchError,
  concatMap,
  defer,
  filter,
  first,
  map,
  NEVER,
  type Observable,
  repeat,
  retry,
  takeUntil,
  tap,
  timer,
  toArray,
} from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { ledgerEnd } from '../feed/ledgerEnd.js';
import { exchange } from '../http/exchange.js';
import { jitter, retryTransient } from '../http/retry.js';
import { type ContractPolicies, type ContractQuery, eventFormatOf } from './ContractQuery.js';
import type { ContractsSource } from './ContractsSource.js';
import { listBody, listPath } from './snapshot/transports.js';

/**
 * Reads a query with those of its types that the participant knows, if the policy is to wait, and reads it again when
 * one of the others becomes known. Waits while no type is known.
 */
export function readKnownTypes<A>(
  source: ContractsSource,
  query: ContractQuery & ContractPolicies,
  read: (known: ContractQuery & ContractPolicies) => Observable<A>,
): Observable<A> {
  const { types = {}, onUnknownPackage } = query;
  const names = Object.keys(types);
  if (onUnknownPackage !== 'wait' || names.length === 0) return read(query);
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
      const read$ = known.length === 0 ? NEVER : read({ ...query, types: Object.fromEntries(known) });
      return read$.pipe(takeUntil(fewerUnknown(source, query, unknown).pipe(tap(setUnknown))));
    }).pipe(
      retry({
        delay: (error) => {
          if (!isUnknownType(error)) throw error;
          return findUnknown(source, query, names).pipe(
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
  query: ContractQuery,
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
      findUnknown(source, query, unknown).pipe(
        // the next check may succeed, and the feed itself has not failed
        catchError(() => [unknown]),
        repeat({ delay: wait }),
      ),
    ),
    first((left) => left.length < unknown.length),
  );
}

/** Checks each type by itself: only the text of an error says which types of a request are unknown. */
const findUnknown = (
  source: ContractsSource,
  query: ContractQuery,
  names: readonly string[],
): Observable<readonly string[]> =>
  ledgerEnd(source.service.link).pipe(
    concatMap((end) => names.map((name) => ({ name, end }))),
    concatMap(({ name, end }) =>
      isUnknownAlone(source, query, name, end).pipe(
        filter(Boolean),
        map(() => name),
      ),
    ),
    toArray(),
  );

function isUnknownAlone(
  { service }: ContractsSource,
  { types = {}, ...query }: ContractQuery,
  name: string,
  activeAtOffset: Offset,
): Observable<boolean> {
  const alone = Object.entries(types).filter(([other]) => other === name);
  const eventFormat = eventFormatOf({ ...query, types: Object.fromEntries(alone) });
  const body = listBody({ eventFormat, offset: activeAtOffset });
  return exchange(service.link, { method: 'POST', path: listPath, query: { limit: 1 }, body }, () => false).pipe(
    catchError((error: unknown) => {
      const isUnknown = isUnknownType(error);
      // the ledger was pruned in the meantime; an unknown type would have failed earlier
      if (isUnknown || isLedgerError(error, 'PrunedError')) return [isUnknown];
      throw error;
    }),
  );
}
