import {
  catchError,
  concatMap,
  map,
  type MonoTypeOperatorFunction,
  type Observable,
  type OperatorFunction,
} from 'rxjs';
import type { AnyFeed } from '../feed/LedgerFeed.js';
import { isEndBeforeCursor } from '../feed/pageRequest.js';
import { hasContract, positionAt } from '../feed/positionAt.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { bareOffset, type LedgerPosition } from '../codecs/LedgerPosition.js';
import type { Place } from '../history/locate.js';
import { readParticipantId } from '../history/participant.js';
import { retryTransient } from '../http/retry.js';
import type { AnyContract } from './Contract.js';
import type { ContractsSource } from './ContractQuery.js';
import type { LoadedContracts } from './readContracts.js';

/** The ledger, or its offsets, have changed while contracts were read: they are read again. */
export class MovedError extends Error {}

/**
 * Reads contracts and their position, both of one participant and of one ledger.
 *
 * @param progress - whether the ledger did not have the newest contract when the contracts were last read
 */
export const withPosition = (
  source: ContractsSource,
  feed: AnyFeed,
  progress: { isDoubtful: boolean },
  read$: Observable<LoadedContracts>,
): Observable<LoadedContracts & { readonly position: LedgerPosition }> =>
  read$.pipe(
    concatMap((read) => {
      const newest = newestOf(read.fold.contracts);
      const begin = Math.max(0, (newest?.offset ?? 0) - 1);
      const position$ = positionAt(feed, { offset: read.offset, begin, participantId: undefined }).pipe(
        catchError((error: unknown) => {
          throw isEndBeforeCursor(error) ? new MovedError() : error;
        }),
      );
      return position$.pipe(
        concatMap((position) => hasContract(feed, newest).pipe(map((isThere) => ({ position, isThere })))),
        map(({ position, isThere }) => {
          const isDoubtful = isThere === false;
          // another ledger has taken the place of that of the contracts
          if (isDoubtful && !progress.isDoubtful) {
            progress.isDoubtful = true;
            throw new MovedError();
          }
          // the participant shows it in another way: it proves nothing
          progress.isDoubtful = false;
          return { ...read, position: isDoubtful ? bareOffset(read.offset) : position };
        }),
      );
    }),
    ofOneParticipant(source),
    map(({ participantId, position, ...read }) => ({ ...read, position: { ...position, participantId } })),
  );

/** The contract that was created or assigned last. */
function newestOf(contracts: Iterable<AnyContract>): AnyContract | undefined {
  let newest: AnyContract | undefined;
  for (const contract of contracts) if (contract.offset > (newest?.offset ?? 0)) newest = contract;
  return newest;
}

/**
 * Reads the ID of the participant before and after contracts, so that what is stored of them names the participant that
 * served them. Fails with a `MovedError` if another one has taken its place in between.
 */
const ofOneParticipant =
  <A extends object>(
    source: ContractsSource,
  ): OperatorFunction<A, A & { readonly participantId: string | undefined }> =>
  (contracts$) =>
    readParticipant(source).pipe(
      concatMap((before) =>
        contracts$.pipe(
          concatMap((contracts) =>
            readParticipant(source).pipe(
              map((after) => {
                if (after !== before) throw new MovedError();
                return { ...contracts, participantId: after };
              }),
            ),
          ),
        ),
      ),
    );

/** Emits the ID of the participant; `undefined` if it does not report it. */
export const readParticipant = (source: ContractsSource): Observable<string | undefined> =>
  readParticipantId(source.client).pipe(retryTransient(source));

/**
 * If the participant has pruned whatever could show a position, it will not be found later, either: calls back with one that the
 * same participant proves alone, or with `undefined` if it does not report its ID, so that nothing does. Fails with the error.
 */
export const ifPruned = (
  source: ContractsSource,
  { offset, participantId: expected }: LedgerPosition,
  onPruned: (provable: LedgerPosition | undefined) => void,
): MonoTypeOperatorFunction<Place> =>
  catchError((error: unknown) => {
    if (!isLedgerError(error, 'PrunedError')) throw error;
    return readParticipant(source).pipe(
      map((participantId) => {
        if (participantId === undefined) onPruned(undefined);
        else if (participantId === expected) onPruned({ ...bareOffset(offset), participantId });
        throw error;
      }),
    );
  });

/** Where a position is if nothing has changed. */
export const here: Place = { _tag: 'Here', isProven: false };

/** Whether a position is still where it was found. If not, but on the same ledger, the contracts must be read elsewhere. */
export const isStill =
  (before: Place) =>
  (now: Place): boolean => {
    const isMoved =
      now._tag !== before._tag ||
      (now._tag === 'Elsewhere' && before._tag === 'Elsewhere' && now.start !== before.start);
    if (isMoved) throw new MovedError();
    return true;
  };
