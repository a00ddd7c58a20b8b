import fc from 'fast-check';
import { delay, map, NEVER, type Observable, of, timer } from 'rxjs';
import { ResponseTooLargeError } from '../../../src/errors/request.js';
import type { Reply, ServiceRequest } from '../../helpers/scripted.js';
import type { Entry, VirtualLedger, VirtualOptions } from '../../helpers/virtualLedger.js';
import { errorReply, ok } from '../../helpers/wire.js';
import { isBounded, isDownward, isLookUp, isPage, isPoll, markBadPage } from './requests.js';
import type { Fault, FaultRule, SocketFault } from './Schedule.js';
import { passing, refusing, statuses, stopping, turning } from './statuses.js';

/** The fault of the n-th request, at a time in milliseconds. */
export const findFault = (
  rules: readonly FaultRule[],
  request: ServiceRequest,
  ms: number,
  n: number,
): Fault | undefined =>
  rules.find(
    ({ on, when }) =>
      isAffected[on](request) &&
      ('request' in when ? when.request === n : ms >= when.fromMs && ms < when.fromMs + when.forMs),
  )?.fault;

const isAffected: Readonly<Record<FaultRule['on'], (request: ServiceRequest) => boolean>> = {
  any: () => true,
  page: isPage,
  bounded: (request) => isPage(request) && isBounded(request),
  poll: isPoll,
  end: (request) => !isPage(request) && !isLookUp(request),
};

/** The answer with a fault; `undefined` where the fault does not apply to the request. */
export function applyFault(
  fault: Fault,
  request: ServiceRequest,
  honest$: Observable<Reply>,
  ledger: VirtualLedger,
  { updates }: VirtualOptions,
): Observable<Reply> | undefined {
  const changed = (change: (entries: readonly Entry[]) => readonly Entry[]): Observable<Reply> =>
    honest$.pipe(
      map((reply) => {
        const entries = ledger.entriesOf(reply);
        return entries === undefined ? reply : ledger.page(change(entries));
      }),
    );
  const older = (count: number): readonly Entry[] =>
    ledger.between(0, Number(request.body['beginExclusive'])).slice(-count);
  // a page of a bounded range that does not advance would end the feed: one that has only the last update
  const mayRepeat = (entries: readonly Entry[]): boolean =>
    isPoll(request) ||
    isDownward(request) ||
    (entries.at(-1)?.offset ?? 0) > Number(request.body['beginExclusive']) + 1;
  switch (fault.kind) {
    case 'status':
      return mayAnswer(fault.status, request, updates !== 'gone')
        ? timer(fault.afterMs).pipe(map(() => replyOf(fault.status)))
        : undefined;
    case 'reset':
      return timer(fault.afterMs).pipe(map(() => new Error('socket hang up')));
    case 'cut':
      return honest$.pipe(map((reply) => cutAt(reply, fault.at)));
    case 'huge':
      return mayAnswer('413 list', request, true)
        ? timer(1).pipe(map(() => new ResponseTooLargeError(request.path, 1)))
        : undefined;
    case 'never':
      return NEVER;
    case 'late':
      return honest$.pipe(delay(fault.byMs));
    case 'twice':
      return isPage(request)
        ? changed((entries) => (mayRepeat(entries) ? entries.flatMap((entry) => [entry, entry]) : entries))
        : undefined;
    case 'again':
      return isPage(request) && !isDownward(request)
        ? changed((entries) => (mayRepeat(entries) ? [...older(fault.count), ...entries] : entries))
        : undefined;
    case 'stale':
      return isPoll(request) ? of(ledger.page(older(Number(request.query['limit'])))) : undefined;
    case 'empty':
      return isPoll(request) ? of(ledger.page([])) : undefined;
    case 'short':
      // never a page without news: no service sends one where there are updates, and the feed believes it
      return isPage(request)
        ? changed((entries) => entries.slice(0, Math.max(fault.count === 0 && isPoll(request) ? 0 : 2, fault.count)))
        : undefined;
    case 'backwards':
      return isPage(request) ? honest$.pipe(map((reply) => swapFirstTwo(reply, ledger))) : undefined;
    case 'nowhere':
      return isPage(request) && isBounded(request) && !isDownward(request) && older(1).length > 0
        ? of(markOutOfOrder(ok(older(2).map(({ element }) => element))))
        : undefined;
    case 'undecodable':
      return isPage(request) ? honest$.pipe(map((reply) => spoilElement(reply, ledger, fault.at))) : undefined;
  }
}

/** Whether a service may answer so: the only path is never gone, and a single element is never too many. */
function mayAnswer(status: string, request: ServiceRequest, hasOtherPath: boolean): boolean {
  // in descending order, the feed never requests a page of one
  if (status === '413 list') return isPage(request) && Number(request.query['limit']) > (isDownward(request) ? 3 : 1);
  // a gateway that blocks the ledger end alone
  if (status === '403 gateway') return !isPage(request);
  if (['404 path', '405 path', '501 path', '400 disabled'].includes(status))
    return hasOtherPath && request.path !== '/v2/updates';
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
  return reply.status === 200 ? { ...reply, text } : errorReply(503, text);
}

function swapFirstTwo(reply: Reply, ledger: VirtualLedger): Reply {
  const [first, second, ...rest] = ledger.entriesOf(reply) ?? [];
  if (first === undefined || second === undefined || first.offset === second.offset) return reply;
  return markOutOfOrder(ok([second, first, ...rest].map(({ element }) => element)));
}

function spoilElement(reply: Reply, ledger: VirtualLedger, at: number): Reply {
  const entries = ledger.entriesOf(reply) ?? [];
  const bad = entries[at % entries.length];
  if (bad === undefined) return reply;
  const before = entries.slice(0, at % entries.length);
  const spoilt = ok(entries.map((entry) => (entry === bad ? withoutFields(entry) : entry.element)));
  return markUndecodable(spoilt, before, bad.offset);
}

/** An update without most of its fields. Its ID stays: with another one, it would be that of another ledger. */
function withoutFields({ offset, element }: Entry): object {
  const [, updateId] = /"updateId":"([^"]*)"/.exec(JSON.stringify(element)) ?? [];
  return { update: { Transaction: { value: { offset, updateId } } } };
}

const markOutOfOrder = (reply: Reply): Reply => markBadPage(reply, { tag: 'OrderError', good: [] });

const markUndecodable = (reply: Reply, good: readonly Entry[], offset?: number): Reply =>
  markBadPage(reply, { tag: 'DecodeError', good, ...(offset === undefined ? { isNoPage: true } : { offset }) });

const kind = <K extends Fault['kind'] | SocketFault['kind']>(name: K): fc.Arbitrary<K> => fc.constant(name);

const statusFault = (names: readonly string[]): fc.Arbitrary<Fault> =>
  fc.record({
    kind: kind('status'),
    status: fc.constantFrom(...names),
    afterMs: fc.oneof(
      { weight: 4, arbitrary: fc.constant(0) },
      { weight: 1, arbitrary: fc.constantFrom(1_500, 7_000) },
    ),
  });

/** Faults that only delay a feed. */
export const passingFault: fc.Arbitrary<Fault> = fc.oneof(
  { weight: 6, arbitrary: statusFault([...Object.keys(passing), ...Object.keys(turning)]) },
  fc.record({ kind: kind('reset'), afterMs: fc.constantFrom(0, 3, 2_000) }),
  { weight: 2, arbitrary: fc.record({ kind: kind('cut'), at: fc.integer({ min: 0, max: 999 }) }) },
  fc.record({ kind: kind('never') }),
  fc.record({ kind: kind('huge') }),
  fc.record({ kind: kind('late'), byMs: fc.integer({ min: 1, max: 20_000 }) }),
  fc.record({ kind: kind('twice') }),
  fc.record({ kind: kind('again'), count: fc.integer({ min: 1, max: 5 }) }),
  fc.record({ kind: kind('stale') }),
  fc.record({ kind: kind('empty') }),
  fc.record({ kind: kind('short'), count: fc.nat({ max: 3 }) }),
);

/** Faults that end a feed at once. */
export const stoppingFault: fc.Arbitrary<Fault> = fc.oneof(
  { weight: 3, arbitrary: statusFault(Object.keys(stopping)) },
  fc.record({ kind: kind('backwards') }),
  fc.record({ kind: kind('nowhere') }),
  fc.record({ kind: kind('undecodable'), at: fc.nat({ max: 30 }) }),
);

export const anyFault: fc.Arbitrary<Fault> = fc.oneof(
  { weight: 4, arbitrary: passingFault },
  { weight: 1, arbitrary: stoppingFault },
);

const after = fc.nat({ max: 6 });

/** Faults of sockets. None ends a feed: it finds out their cause by HTTP. */
export const passingSocketFault: fc.Arbitrary<SocketFault> = fc.oneof(
  fc.record({ kind: kind('refused') }),
  fc.record({ kind: kind('never') }),
  { weight: 4, arbitrary: fc.record({ kind: kind('closed'), after, code: fc.constantFrom(1000, 1001, 1006, 1011) }) },
  fc.record({ kind: kind('silent'), after }),
  fc.record({ kind: kind('deaf'), after }),
  {
    weight: 3,
    arbitrary: fc.record({
      kind: kind('error'),
      after,
      status: fc.constantFrom(...Object.keys({ ...passing, ...stopping, ...refusing })),
    }),
  },
  fc.record({ kind: kind('torn'), after }),
  fc.record({ kind: kind('twice'), after }),
);

/** The same, and messages that do not decode. */
export const stoppingSocketFault: fc.Arbitrary<SocketFault> = fc.oneof(
  { weight: 3, arbitrary: passingSocketFault },
  { weight: 1, arbitrary: fc.record({ kind: kind('undecodable'), after, at: fc.constant(0) }) },
);
