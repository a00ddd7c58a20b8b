import { concat, concatMap, defer, map, NEVER, type Observable, of, takeWhile, throwError, timer } from 'rxjs';
import type { SocketSign } from '../../../src/ws/SocketPort.js';
import {
  type Reply,
  type ServiceRequest,
  socketEnd,
  socketOpen,
  type SocketRequest,
  socketText,
} from '../../helpers/scripted.js';
import type { Entry, VirtualLedger } from '../../helpers/virtualLedger.js';
import { applyFault } from './faults.js';
import type { SocketFault } from './Schedule.js';
import { statuses } from './statuses.js';

/** The service's side of a socket. */
export interface SocketService {
  readonly ledger: VirtualLedger;
  /** The error for a socket whose token is not valid now. */
  readonly refusal: () => Reply | undefined;
  /** Called for each element that reaches the client, as the answer to a poll for one element. */
  readonly delivered: (request: ServiceRequest, reply: Reply) => void;
}

/** The signs of a socket, with or without a fault. */
export function socketSigns(
  request: SocketRequest,
  fault: SocketFault | undefined,
  service: SocketService,
): Observable<SocketSign> {
  if (fault?.kind === 'refused') return throwError(() => new Error('Unexpected server response: 400'));
  if (fault?.kind === 'never') return NEVER;
  let last = Number(request.body['beginExclusive']);
  let count = 0;
  const signs = (entry: SocketSign | Entry): Observable<SocketSign> => {
    if (!('element' in entry)) return of(entry);
    const refusal = service.refusal();
    if (refusal !== undefined) return refuse(refusal);
    count += 1;
    const active = fault !== undefined && 'after' in fault && count > fault.after ? fault : undefined;
    const break$ = active && breakSocket(active);
    if (break$ !== undefined) return break$;
    const poll = pollFor(request, last);
    const honest: Reply = service.ledger.page([entry]);
    return (changeElement(active, poll, honest, service.ledger) ?? of(honest)).pipe(
      concatMap((reply) =>
        defer(() => {
          service.delivered(poll, reply);
          last = Math.max(last, entry.offset);
          return reply instanceof Error ? [] : (JSON.parse(reply.text) as readonly unknown[]).map(socketText);
        }),
      ),
    );
  };
  const refusal = service.refusal();
  const signs$ = refusal === undefined ? service.ledger.stream(request) : concat(of(socketOpen), refuse(refusal));
  return signs$.pipe(
    concatMap(signs),
    takeWhile(({ _tag }) => _tag !== 'End', true),
  );
}

/** How a service closes an open socket whose token is not valid any more. */
const refuse = (reply: Reply): Observable<SocketSign> =>
  of(textSign(reply instanceof Error ? '' : reply.text), socketEnd(1000));

const textSign = (text: string): SocketSign => ({ _tag: 'Text', text });

/** The poll for one element that the next element of a socket would answer. */
export const pollFor = ({ path }: SocketRequest, beginExclusive: number): ServiceRequest => ({
  method: 'POST',
  path,
  query: { limit: '1' },
  body: { beginExclusive },
  token: undefined,
});

function breakSocket(fault: SocketFault): Observable<SocketSign> | undefined {
  switch (fault.kind) {
    case 'closed':
      return of(socketEnd(fault.code));
    case 'silent':
      return NEVER;
    case 'deaf':
      return timer(12_000, 12_000).pipe(map((): SocketSign => ({ _tag: 'Alive' })));
    case 'error':
      return refuse(statuses[fault.status]?.() ?? new Error());
    case 'torn':
      return of(textSign('{"update":{'));
    default:
      return undefined;
  }
}

function changeElement(
  fault: SocketFault | undefined,
  request: ServiceRequest,
  honest: Reply,
  ledger: VirtualLedger,
): Observable<Reply> | undefined {
  switch (fault?.kind) {
    case 'twice':
    case 'undecodable':
      return applyFault(fault, request, of(honest), ledger, {});
    default:
      return undefined;
  }
}
