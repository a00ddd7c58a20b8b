import { catchError, defaultIfEmpty, defer, finalize, mergeMap, NEVER, type Observable, of } from 'rxjs';
import { take, throwError, timer } from 'rxjs';
import type { HttpPort, HttpRequest, HttpResponse } from '../../http/HttpPort.js';
import { RequestError } from '../errors.js';
import type { Fault } from '../faults/Fault.js';
import { answerRequest } from '../http/answerRequest.js';
import { type Answer, checkBodySize, errorAnswer, parseForLog } from '../http/Call.js';
import type { Participant } from '../participant/Participant.js';
import { RequestRecord } from '../participant/RequestRecord.js';
import { connectionError, type Door } from './Door.js';

/** Serves requests without a server. A client that unsubscribes disconnects. */
export const requestPort =
  (participant: Participant, door: Door, latencyMs: number): HttpPort =>
  (request) => {
    const arrived = (): Observable<HttpResponse> => serve(request, participant);
    const served = latencyMs > 0 ? () => timer(latencyMs, participant.scheduler).pipe(mergeMap(arrived)) : arrived;
    return door.admit(served, () => throwError(() => reset())).pipe(take(1));
  };

/** Serves one request: logs it, takes its fault, and emits the response. */
function serve({ method, url, headers, body = '' }: HttpRequest, participant: Participant): Observable<HttpResponse> {
  const { faults, log, scheduler, settings } = participant;
  const { pathname: path, searchParams: query, host } = new URL(url);
  const isAuthorized = /^Bearer\s+\S/i.test(headers['authorization'] ?? '');
  const record = new RequestRecord(method, path, Object.fromEntries(query), isAuthorized, scheduler.now());
  log.push(record);
  const fault = faults.take(path);
  record.body = parseForLog(body);
  const bytes = Buffer.from(body);
  const answer$ = defer(() => {
    checkBodySize(bytes.length, settings);
    return answerRequest({ participant, method, path, query, headers: { host, ...headers }, body, bytes, fault });
  });
  return answer$.pipe(
    defaultIfEmpty(undefined),
    mergeMap((answer) => deliver(answer, fault, record)),
    catchError((error: unknown) =>
      error instanceof RequestError ? deliver(errorAnswer(error, ''), undefined, record) : throwError(() => error),
    ),
    finalize(() => {
      record.onClose();
    }),
  );
}

/** Sends a response over the connection, or applies the fault to it. */
function deliver(
  answer: Answer | undefined,
  fault: Fault | undefined,
  record: RequestRecord,
): Observable<HttpResponse> {
  if (fault?.kind === 'hang') return NEVER;
  const size = Buffer.byteLength(answer?.body ?? '');
  const isPart = (fault?.kind === 'stall' || fault?.kind === 'truncate') && fault.bytes < size;
  if (answer !== undefined && fault?.kind !== 'reset' && answer.lost !== true) record.status = answer.status;
  if (isPart && fault.kind === 'stall') return NEVER;
  record.settle();
  if (answer === undefined || isPart || fault?.kind === 'reset' || answer.lost === true)
    return throwError(() => reset());
  const type = answer.contentType === undefined ? {} : { 'content-type': answer.contentType };
  return of({ status: answer.status, headers: { ...type, ...answer.headers }, text: answer.body });
}

const reset = (): Error => connectionError('ECONNRESET', 'socket hang up');
