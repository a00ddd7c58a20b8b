import * as t from 'io-ts';
import { catchError, map, of, type Observable } from 'rxjs';
import type { Answer } from './Answer.js';
import { jsonIn } from './jsonIn.js';
import type { Question } from './Question.js';

const ParticipantId = t.type({ participantId: t.string });

/** The id of the participant; `undefined` from one that does not tell it. */
export const participantId = (ask: (question: Question) => Observable<Answer>): Observable<string | undefined> =>
  ask({ method: 'GET', path: '/v2/parties/participant-id' }).pipe(
    map((answer) => jsonIn(answer, ParticipantId)?.participantId),
    catchError(() => of(undefined)),
  );
