import {
  catchError,
  concat,
  concatMap,
  connect,
  defer,
  filter,
  finalize,
  interval,
  map,
  merge,
  mergeMap,
  NEVER,
  type Observable,
  of,
  type SchedulerLike,
  takeUntil,
  takeWhile,
  tap,
  throwError,
  timer,
} from 'rxjs';
import type { SocketPort, SocketRequest, SocketSign } from '../../ws/SocketPort.js';
import { RequestError, requestError } from '../errors.js';
import { type Call, parseForLog, readBearerToken, readTrace, statusAnswer, unavailable } from '../http/Call.js';
import { findStream } from '../http/routes.js';
import { socketSteps, type SocketStep } from '../http/socketSteps.js';
import { elementsOf } from '../http/Wait.js';
import type { Participant } from '../participant/Participant.js';
import { RequestRecord } from '../participant/RequestRecord.js';
import { connectionError, type Door } from './Door.js';

/** Opens WebSockets to the sandbox without a server. A client that unsubscribes disconnects. */
export const socketPort =
  (participant: Participant, door: Door, latencyMs: number): SocketPort =>
  (request) => {
    const arrived = (): Observable<SocketSign> => serve(request, participant);
    const served = latencyMs > 0 ? () => timer(latencyMs, participant.scheduler).pipe(mergeMap(arrived)) : arrived;
    return door.admit(served, () => of(ended(1006))).pipe(takeWhile(({ _tag }) => _tag !== 'End', true));
  };

const ended = (code: number): SocketSign => ({ _tag: 'End', code });

/** How often the client sees that the sandbox answers its pings, in milliseconds. */
const pongEveryMs = 12_000;

/** Serves one WebSocket: logs it, takes its fault, and emits its signs of life. */
function serve({ url, headers, message }: SocketRequest, participant: Participant): Observable<SocketSign> {
  const { faults, log, scheduler, settings } = participant;
  const { pathname: path, searchParams: query } = new URL(url);
  const hasToken = headers['authorization'] !== undefined;
  const record = new RequestRecord('GET', path, Object.fromEntries(query), hasToken, scheduler.now());
  log.push(record);
  const fault = faults.take(path, 'upgrade');
  if (fault?.kind === 'hang') return NEVER;
  if (fault?.kind === 'reset') return throwError(() => connectionError('ECONNRESET', 'socket hang up'));
  if (fault?.kind === 'status' || (fault?.kind === 'socket' && fault.how === 'refuse')) {
    return refuse(statusAnswer(fault).status, record);
  }
  const stream = findStream(path, settings);
  if (stream === undefined) return refuse(404, record);
  return defer(() => {
    const token = readBearerToken(headers['authorization']);
    const isAuthorized = () => settings.checkToken?.(token) ?? true;
    if (settings.webSocketRefusal === 'handshake' && !isAuthorized())
      throw requestError('UNAUTHENTICATED', 'no good token');
    record.status = 101;
    record.body = parseForLog(message);
    const trace = readTrace(settings.profile < '3.5' ? {} : headers);
    const received = { participant, method: 'GET', path, query, headers, body: message, bytes: Buffer.alloc(0) };
    const call: Call = { ...received, trace, fault, isAuthorized, timeoutAnswer: unavailable };
    const opened: SocketSign = { _tag: 'Open' };
    return concat(of(opened), signsOf(elementsOf(socketSteps(stream, call)), scheduler)).pipe(
      tap(({ _tag }) => {
        if (_tag === 'End') record.settle();
      }),
      finalize(() => {
        record.onClose();
      }),
    );
  }).pipe(
    catchError((error: unknown) =>
      error instanceof RequestError ? refuse(error.status, record) : throwError(() => error),
    ),
  );
}

/** What the client sees of the steps. It also sees that the sandbox answers its pings, until a silence. */
const signsOf = (steps$: Observable<SocketStep>, scheduler: SchedulerLike): Observable<SocketSign> =>
  steps$.pipe(
    connect((shared$) => {
      const silence$ = shared$.pipe(filter(({ kind }) => kind === 'silence'));
      const pongs$ = interval(pongEveryMs, scheduler).pipe(takeUntil(silence$));
      return merge(pongs$.pipe(map((): SocketSign => ({ _tag: 'Alive' }))), shared$.pipe(concatMap(signOf)));
    }),
  );

/** The upgrade gets another response. The message is that of `ws`. */
function refuse(status: number, record: RequestRecord): Observable<never> {
  record.status = status;
  record.settle();
  return throwError(() => new Error(`Unexpected server response: ${status}`));
}

/** What the client sees of a step. */
function signOf(step: SocketStep): Observable<SocketSign> {
  switch (step.kind) {
    case 'text':
      return of({ _tag: 'Text', text: step.text });
    case 'close':
      return of(ended(step.code ?? 1000));
    case 'cut':
      return of(ended(1006));
    case 'silence':
      return NEVER;
  }
}
