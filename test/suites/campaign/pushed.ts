import { concat, concatMap, defer, map, NEVER, of, takeWhile, throwError, timer, type Observable } from 'rxjs';
import type { SocketSign } from '../../../src/http/SocketPort.js';
import { type Asked, type Reply } from '../../helpers/scripted.js';
import { end, open, text, type AskedSocket } from '../../helpers/scriptedSockets.js';
import type { Entry, VirtualLedger } from '../../helpers/virtualLedger.js';
import { inflict } from './inflict.js';
import type { PushFault } from './Schedule.js';
import { statuses } from './statuses.js';

/** Who looks at what goes through a socket. */
export interface Door {
  readonly ledger: VirtualLedger;
  /** What refuses the token of a socket now. */
  readonly refusal: () => Reply | undefined;
  /** An answer has reached the client, such as a poll for one element would have had. */
  readonly delivered: (asked: Asked, reply: Reply) => void;
}

/** What a socket of a ledger tells, with a fault or without one. */
export function pushed(asked: AskedSocket, fault: PushFault | undefined, door: Door): Observable<SocketSign> {
  if (fault?.kind === 'refused') return throwError(() => new Error('Unexpected server response: 400'));
  if (fault?.kind === 'never') return NEVER;
  let last = Number(asked.body['beginExclusive']);
  let count = 0;
  const signs = (entry: SocketSign | Entry): Observable<SocketSign> => {
    if (!('element' in entry)) return of(entry);
    const refusal = door.refusal();
    if (refusal !== undefined) return refused(refusal);
    count += 1;
    const struck = fault !== undefined && 'after' in fault && count > fault.after ? fault : undefined;
    const broken = struck && brokenBy(struck);
    if (broken !== undefined) return broken;
    const poll = pollFor(asked, last);
    const honest: Reply = door.ledger.page([entry]);
    return (changedBy(struck, poll, honest, door.ledger) ?? of(honest)).pipe(
      concatMap((reply) =>
        defer(() => {
          door.delivered(poll, reply);
          last = Math.max(last, entry.offset);
          return reply instanceof Error ? [] : (JSON.parse(reply.text) as readonly unknown[]).map(text);
        }),
      ),
    );
  };
  const refusal = door.refusal();
  const signs$ = refusal === undefined ? door.ledger.pushes(asked) : concat(of(open), refused(refusal));
  return signs$.pipe(
    concatMap(signs),
    takeWhile(({ _tag }) => _tag !== 'End', true),
  );
}

/** What an open socket says to a token that is good no more. */
const refused = (reply: Reply): Observable<SocketSign> => of(said(reply instanceof Error ? '' : reply.text), end(1000));

const said = (words: string): SocketSign => ({ _tag: 'Text', text: words });

/** The poll for one element that would be answered by what comes next. */
export const pollFor = ({ path }: AskedSocket, beginExclusive: number): Asked => ({
  method: 'POST',
  path,
  query: { limit: '1' },
  body: { beginExclusive },
  token: undefined,
});

function brokenBy(fault: PushFault): Observable<SocketSign> | undefined {
  switch (fault.kind) {
    case 'closed':
      return of(end(fault.code));
    case 'silent':
      return NEVER;
    case 'deaf':
      return timer(12_000, 12_000).pipe(map((): SocketSign => ({ _tag: 'Alive' })));
    case 'error':
      return refused(statuses[fault.status]?.() ?? new Error());
    case 'torn':
      return of(said('{"update":{'));
    default:
      return undefined;
  }
}

function changedBy(
  fault: PushFault | undefined,
  asked: Asked,
  honest: Reply,
  ledger: VirtualLedger,
): Observable<Reply> | undefined {
  switch (fault?.kind) {
    case 'twice':
    case 'undecodable':
      return inflict(fault, asked, of(honest), ledger, {});
    default:
      return undefined;
  }
}
