import { delay, map, NEVER, of, timer, type Observable } from 'rxjs';
import { AnswerTooLargeError } from '../../../src/errors/request.js';
import { failed, ok, type Asked, type Reply } from '../../helpers/scripted.js';
import type { Entry, VirtualLedger, VirtualOptions } from '../../helpers/virtualLedger.js';
import { invalid } from '../../helpers/wire.js';
import type { Fault } from './Schedule.js';
import { statuses } from './statuses.js';

export const isPage = ({ path }: Asked): boolean => path.startsWith('/v2/updates');
export const isBounded = ({ body }: Asked): boolean => 'endInclusive' in body;
export const isDownward = ({ body }: Asked): boolean => body['descendingOrder'] === true;
export const isBeyondEnd = (reply: Reply): boolean =>
  !(reply instanceof Error) && reply.status === 400 && reply.text.includes('OFFSET_AFTER_LEDGER_END');
export const isPoll = (asked: Asked): boolean => isPage(asked) && !isBounded(asked);

/** What a fault makes of an honest answer; `undefined` where it does not apply to what was asked. */
export function inflict(
  fault: Fault,
  asked: Asked,
  honest$: Observable<Reply>,
  ledger: VirtualLedger,
  { updates }: VirtualOptions,
): Observable<Reply> | undefined {
  const changed = (change: (entries: readonly Entry[]) => readonly Entry[]): Observable<Reply> =>
    honest$.pipe(
      map((reply) => {
        const entries = ledger.entriesIn(reply);
        return entries === undefined ? reply : ledger.page(change(entries));
      }),
    );
  const older = (count: number): readonly Entry[] =>
    ledger.between(0, Number(asked.body['beginExclusive'])).slice(-count);
  switch (fault.kind) {
    case 'status':
      return applies(fault.status, asked, updates !== 'gone')
        ? timer(fault.afterMs).pipe(map(() => replyOf(fault.status)))
        : undefined;
    case 'reset':
      return timer(fault.afterMs).pipe(map(() => new Error('socket hang up')));
    case 'cut':
      return honest$.pipe(map((reply) => cutAt(reply, fault.at)));
    case 'huge':
      return applies('413 list', asked, true)
        ? timer(1).pipe(map(() => new AnswerTooLargeError(asked.path, 1)))
        : undefined;
    case 'never':
      return NEVER;
    case 'late':
      return honest$.pipe(delay(fault.byMs));
    case 'twice':
      return isPage(asked) ? changed((entries) => entries.flatMap((entry) => [entry, entry])) : undefined;
    case 'again':
      // of a range that has an end, a page that leads nowhere ends the feed
      return isPage(asked) && !isDownward(asked)
        ? changed((entries) => (isPoll(asked) || entries.length > 0 ? [...older(fault.count), ...entries] : entries))
        : undefined;
    case 'stale':
      return isPoll(asked) ? of(ledger.page(older(Number(asked.query['limit'])))) : undefined;
    case 'empty':
      return isPoll(asked) ? of(ledger.page([])) : undefined;
    case 'short':
      // that a bounded range is empty is believed: no service says so of one that is not
      return isPage(asked)
        ? changed((entries) => entries.slice(0, Math.max(isPoll(asked) ? 0 : 1, fault.count)))
        : undefined;
    case 'backwards':
      return isPage(asked) ? honest$.pipe(map((reply) => swapped(reply, ledger))) : undefined;
    case 'nowhere':
      return isPage(asked) && isBounded(asked) && !isDownward(asked) && older(1).length > 0
        ? of(backwards(ok(older(2).map(({ element }) => element))))
        : undefined;
    case 'undecodable':
      return isPage(asked) ? honest$.pipe(map((reply) => spoilt(reply, ledger, fault.at))) : undefined;
    case 'no list':
      return isPage(asked) ? of(undecodable(ok({ updates: [] }), [])) : undefined;
  }
}

/** Whether a service may answer so: not that a path is gone which is the only one, nor that one element is too many. */
function applies(status: string, asked: Asked, hasOtherPath: boolean): boolean {
  // downward, a page of one is never asked for
  if (status === '413 list') return isPage(asked) && Number(asked.query['limit']) > (isDownward(asked) ? 3 : 1);
  // a gateway that lets nobody ask for the ledger end
  if (status === '403 gateway') return !isPage(asked);
  if (['404 path', '405 path', '501 path', '400 disabled'].includes(status))
    return hasOtherPath && asked.path !== '/v2/updates';
  return true;
}

function replyOf(status: string): Reply {
  const reply = statuses[status];
  if (reply === undefined) throw new RangeError(`no such status: ${status}`);
  return reply();
}

function cutAt(reply: Reply, at: number): Reply {
  if (reply instanceof Error) return reply;
  const text = reply.text.slice(0, Math.floor((reply.text.length * at) / 1_000));
  return reply.status === 200 ? { ...reply, text } : failed(503, text);
}

function swapped(reply: Reply, ledger: VirtualLedger): Reply {
  const [first, second, ...rest] = ledger.entriesIn(reply) ?? [];
  if (first === undefined || second === undefined || first.offset === second.offset) return reply;
  return backwards(ok([second, first, ...rest].map(({ element }) => element)));
}

function spoilt(reply: Reply, ledger: VirtualLedger, at: number): Reply {
  const entries = ledger.entriesIn(reply) ?? [];
  const bad = entries[at % entries.length];
  if (bad === undefined) return reply;
  const before = entries.slice(0, at % entries.length);
  const spoiltReply = ok(entries.map((entry) => (entry === bad ? invalid(entry.offset) : entry.element)));
  return undecodable(spoiltReply, before, bad.offset);
}

/** Pages that end a feed, and what of them is good. */
export interface Bad {
  readonly tag: 'OrderError' | 'DecodeError';
  readonly good: readonly Entry[];
  readonly offset?: number;
  /** Whether it is no list at all. */
  readonly isNoPage?: boolean;
}
const bad = new WeakMap<object, Bad>();

export const badnessOf = (reply: Reply): Bad | undefined => bad.get(reply);

function backwards(reply: Reply): Reply {
  bad.set(reply, { tag: 'OrderError', good: [] });
  return reply;
}

function undecodable(reply: Reply, good: readonly Entry[], offset?: number): Reply {
  bad.set(reply, { tag: 'DecodeError', good, ...(offset === undefined ? { isNoPage: true } : { offset }) });
  return reply;
}
