import { concatMap, map, type Observable, type OperatorFunction } from 'rxjs';
import { readParticipantId } from '../history/participant.js';
import { retryTransient } from '../http/retry.js';
import type { ContractsSource } from './ContractQuery.js';

/** The ledger, or its offsets, have changed while contracts were read: they are read again. */
export class MovedError extends Error {}

/**
 * Reads the ID of the participant before and after contracts, so that what is stored of them names the participant that
 * served them. Fails with a `MovedError` if another one has taken its place in between.
 */
export const ofOneParticipant =
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
  readParticipantId(source.service.link).pipe(retryTransient(source));
