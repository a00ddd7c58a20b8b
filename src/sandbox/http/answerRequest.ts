import { defer, delay, EMPTY, map, merge, type Observable, of, take, timer } from 'rxjs';
import type { FaultStatus } from '../faults/responseFaults.js';
import { clampTimer } from '../wire/values.js';
import {
  type Answer,
  type Call,
  readBearerToken,
  readTimeLimit,
  readTrace,
  rewriteAnswer,
  statusAnswer,
  textAnswer,
} from './Call.js';
import { dispatch } from './routes.js';

/** A request as it arrives, with its whole body and the fault that it gets. */
type ArrivedRequest = Omit<Call, 'trace' | 'timeoutAnswer' | 'isAuthorized'>;

/**
 * Emits the response to a request, nothing if its fault prevents one. What happens to the connection is not decided here:
 * some faults let the response arrive only in part, or not at all.
 */
export function answerRequest(request: ArrivedRequest): Observable<Answer> {
  const { fault } = request;
  switch (fault?.kind) {
    case 'status':
      return fault.when === 'after'
        ? processRequest(request).pipe(map((answer) => replaceSuccess(answer, fault)))
        : of(statusAnswer(fault));
    case 'body':
      return of({ status: 200, contentType: 'application/json', body: fault.body });
    case 'hang':
      return EMPTY;
    case 'reset':
      return fault.when === 'after' ? processRequest(request) : EMPTY;
    case 'rewrite':
      return processRequest(request).pipe(map((answer) => rewriteAnswer(answer, fault)));
    default:
      return processRequest(request);
  }
}

/** Replaces a successful response. A request that fails gets its own error. */
const replaceSuccess = (answer: Answer, fault: FaultStatus): Answer =>
  answer.status < 300 ? statusAnswer(fault) : answer;

/** Processes a request immediately. A fault delays or loses only the response. */
const processRequest = (request: ArrivedRequest): Observable<Answer> =>
  defer(() => {
    const { headers, participant, fault } = request;
    const { settings, scheduler } = participant;
    const isAuthorized = () => {
      const token = readBearerToken(headers.authorization);
      return settings.checkToken?.(token) ?? true;
    };
    const limit = readTimeLimit(headers, settings);
    if (typeof limit === 'string') return of(textAnswer(400, limit));
    const { timeoutAnswer, timeoutMs } = limit;
    const answer$ = dispatch({ ...request, trace: readTrace(headers), timeoutAnswer, isAuthorized });
    const delayMs = fault?.kind === 'delay' ? fault.ms : 0;
    const delayed$ = delayMs > 0 ? answer$.pipe(delay(clampTimer(delayMs), scheduler)) : answer$;
    const timeout$ = timer(clampTimer(timeoutMs), scheduler).pipe(map(() => timeoutAnswer));
    return merge(delayed$, timeout$).pipe(take(1));
  });
