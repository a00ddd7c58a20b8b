import { catchError, concatMap, map, type Observable, of, tap } from 'rxjs';
import { nonEmpty } from '../codecs/internal/field.js';
import { message } from '../codecs/internal/message.js';
import type { ApiError } from '../errors/ApiError.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { isTransient, verdict } from '../errors/verdict.js';
import { decodeWith, exchange } from '../client/exchange.js';
import type { Client } from '../client/Client.js';

const path = '/v2/parties/participant-id';

const ParticipantId = message<{ readonly participantId: string }>('ParticipantId', { participantId: nonEmpty });

/** Emits the ID of the participant; `undefined` if the participant does not report it, or not to this user. */
export const readParticipantId = (
  client: Client,
  timeoutMs = client.requestTimeoutMs,
): Observable<string | undefined> =>
  client.located(path).pipe(
    concatMap((located) =>
      exchange(located, { method: 'GET', path, timeoutMs }, decodeWith(path, ParticipantId)).pipe(
        map(({ participantId }) => participantId),
        tap((participantId) => {
          // the other requests may have gone to another address meanwhile
          client.learned.of(SeenParticipants).ids.set(located.address, participantId);
        }),
      ),
    ),
    catchError((error: unknown) => {
      const isRefused = isLedgerError(error, 'UnauthorizedError') || isLedgerError(error, 'ApiError');
      if (isLedgerError(error, 'DecodeError') || isUnavailable(error) || (isRefused && !isTransient(error)))
        return of(undefined);
      throw error;
    }),
  );

/** The ID of the participant that last reported it at the address of a client; `undefined` before. */
export const seenParticipantId = (client: Client): string | undefined =>
  client.learned.of(SeenParticipants).ids.get(client.address);

/** The participants of a client, by address. */
class SeenParticipants {
  readonly ids = new Map<string | undefined, string>();
}

/**
 * Whether the participant does not serve a path, or a gateway blocks it: then it has never answered there. Afterwards, the
 * same answer of a gateway is an outage.
 */
export const isUnavailable = (error: unknown): error is ApiError =>
  isLedgerError(error, 'ApiError') &&
  (verdict(error) === 'switch' ||
    (error.answeredBy === 'network' && error.answeredBefore !== 'here' && blockingStatuses.includes(error.status)));

const blockingStatuses = [403, 404, 405, 501];

/**
 * Whether the participant, or a gateway, may refuse only the path of its ID, also if it was served before. Then the last update
 * is the proof by itself.
 */
export const isRefusedAlone = (error: unknown): boolean =>
  isLedgerError(error, 'UnauthorizedError') || (isLedgerError(error, 'ApiError') && error.status < 500);

/** Whether a path is refused as a gateway does that blocks it, also if it was served before. */
export const isBlocked = (error: unknown): boolean =>
  isLedgerError(error, 'UnauthorizedError') ||
  (isLedgerError(error, 'ApiError') && blockingStatuses.includes(error.status));
