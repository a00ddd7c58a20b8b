import { catchError, map, of, type Observable } from 'rxjs';
import { message } from '../codecs/internal/message.js';
import { text } from '../codecs/internal/text.js';
import { isApiError } from '../errors/ApiError.js';
import { isDecodeError } from '../errors/DecodeError.js';
import { isTransient } from '../errors/verdict.js';
import type { Link } from '../http/Link.js';
import { decoded } from '../http/decoded.js';
import { exchange } from '../http/exchange.js';
import { isUnauthorizedError } from '../errors/UnauthorizedError.js';
import { retryTransient, type Retrying } from '../http/retryTransient.js';

const path = '/v2/parties/participant-id';
const ParticipantId = message<{ readonly participantId: string }>('ParticipantId', { participantId: text });

/** The id of the participant; `undefined` from a service that does not tell it, or not to this user. */
export const participantIdOf = (link: Link, retrying: Retrying): Observable<string | undefined> =>
  exchange(link, { method: 'GET', path }, decoded(path, ParticipantId)).pipe(
    map(({ participantId }) => participantId),
    retryTransient(retrying),
    catchError((error: unknown) => {
      const isUntold = isDecodeError(error) || isUnauthorizedError(error) || (isApiError(error) && !isTransient(error));
      if (isUntold) return of(undefined);
      throw error;
    }),
  );
