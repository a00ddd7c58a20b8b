import {
  asyncScheduler,
  defer,
  filter,
  identity,
  map,
  merge,
  NEVER,
  Observable,
  of,
  Subject,
  Subscription,
  switchMap,
  take,
  timer,
} from 'rxjs';
import { type Reply, scriptedService, type ServiceRequest } from '../../../helpers/scripted.js';
import { errorBody, errorReply, notFound, ok, refusedConnection } from '../../../helpers/wire.js';
import { elementOf, formatTime, type History, type Recorded, seenOf, type Sight } from './History.js';
import type { Listed, Participant } from './Participant.js';
import { refusalOf, snapshotOf } from './snapshot.js';

/** How a world answers. */
export interface WorldSettings {
  readonly latencyMs: number;
  readonly checkpointMs: number | null;
}

/** More requests than any reader needs. There are no answers after them. */
export const maxRequests = 6_000;

/** The time between checkpoints, in milliseconds. */
const checkpointsMs = 15_000;

/** Participants, and one address that leads to one of them, or to two in turn. */
export class World {
  /** When events of a sight became visible, in milliseconds. */
  readonly seenFrom = new Map<Sight, number>([['always', -1]]);
  /** The pages that had an update. */
  readonly sent = new Map<string, Sent[]>();
  /** The record times in checkpoints that were sent, by synchronizer, and when. */
  readonly checkpoints: { readonly times: ReadonlyMap<string, number>; readonly at: number }[] = [];
  /** Where the address has led, and from when. */
  readonly led: {
    readonly node: Participant;
    readonly history: History;
    readonly participantId: string;
    readonly at: number;
  }[] = [];
  /** The participants whose IDs were asked for, and when. */
  readonly told: { readonly participantId: string; readonly at: number }[] = [];
  /** How many requests there were, and how many sockets were opened. */
  requests = 0;
  sockets = 0;
  failure: Reply | undefined;
  /** The other participant, where two answer in turn. */
  inTurn: Participant | undefined;
  private turns = 0;
  private current: Participant;
  private readonly cuts = new Subject<Reply>();

  constructor(
    readonly nodes: readonly Participant[],
    public history: History,
    private readonly settings: WorldSettings,
  ) {
    const [first] = nodes;
    if (first === undefined) throw new Error('a world has a participant');
    this.current = first;
    this.noteLead(first);
  }

  readonly service = scriptedService((request) => this.reply(request));

  /** The participant to which the address leads. */
  get node(): Participant {
    return this.current;
  }

  nodeAt(index: number): Participant {
    return this.nodes[index % this.nodes.length] ?? this.current;
  }

  /** Leads the address to a participant. Open requests go on at the former one, unless they are cut. */
  lead(node: Participant, isCut: boolean): void {
    this.current = node;
    this.noteLead(node);
    if (isCut) this.cut();
  }

  /** Notes that what the address leads to is another one now. */
  noteLead(node = this.current): void {
    this.led.push({ node, history: this.history, participantId: node.participantId, at: asyncScheduler.now() });
  }

  /** Breaks all open requests. */
  cut(): void {
    this.cuts.next(refusedConnection);
  }

  sees = (sight: Sight): boolean => this.seenFrom.has(sight);

  private reply(request: ServiceRequest): Observable<Reply> {
    return this.request((node) => this.answer(node, request), identity).pipe(take(1));
  }

  /** Emits what the participant answers to which the address leads, and how the request fails if it does. */
  request<A>(answer: (node: Participant) => Observable<A>, failWith: (reply: Reply) => A): Observable<A> {
    this.requests += 1;
    if (this.requests > maxRequests) return NEVER;
    const answer$ = defer(() => {
      if (this.failure !== undefined) return of(failWith(this.failure));
      this.turns += 1;
      const isOther = this.inTurn !== undefined && this.turns % 2 === 0;
      const node = isOther ? (this.inTurn ?? this.current) : this.current;
      return answer(node);
    });
    const { latencyMs } = this.settings;
    const delayed$ = latencyMs === 0 ? answer$ : timer(latencyMs).pipe(switchMap(() => answer$));
    return merge(this.cuts.pipe(map(failWith)), delayed$);
  }

  private answer(node: Participant, request: ServiceRequest): Observable<Reply> {
    switch (request.path) {
      case '/v2/state/ledger-end':
        return of(ok({ offset: node.end }));
      case '/v2/parties/participant-id':
        this.told.push({ participantId: node.participantId, at: asyncScheduler.now() });
        return of(ok({ participantId: node.participantId }));
      case '/v2/state/connected-synchronizers':
        return of(ok({ connectedSynchronizers: [] }));
      case '/v2/state/latest-pruned-offsets':
        return of(ok({ participantPrunedUpToInclusive: node.pruned, allDivulgedContractsPrunedUpToInclusive: 0 }));
      case '/v2/packages':
        return of(ok({ packageIds: ['p1', ...(this.sees('uploaded') ? ['p2'] : [])] }));
      case '/v2/updates/flats':
      case '/v2/updates':
        return this.updates(node, request);
      case '/v2/updates/update-by-id':
        return of(this.updateBy(node, ({ record }) => record.updateId === request.body['updateId']));
      case '/v2/updates/update-by-offset':
        return of(this.updateBy(node, ({ offset }) => offset === request.body['offset']));
      case '/v2/state/active-contracts-page':
        return of(snapshotOf(node, request.body, this.sees));
      default:
        return of(notFound);
    }
  }

  private updateBy(node: Participant, matches: (listed: Listed) => boolean): Reply {
    const found = node.listing.find((listed) => matches(listed) && listed.offset > node.pruned && this.selects(listed));
    return found === undefined ? errorReply(404, errorBody('UPDATE_NOT_FOUND', 11)) : ok(this.elementOf(found));
  }

  private updates(node: Participant, { body, query }: ServiceRequest): Observable<Reply> {
    const begin = Number(body['beginExclusive']);
    const bound = typeof body['endInclusive'] === 'number' ? body['endInclusive'] : undefined;
    const refusal = refusalOf(node, begin, bound);
    if (refusal !== undefined) return of(refusal);
    const limit = Math.min(Number(query['limit'] ?? 201), 201);
    const isDown = body['descendingOrder'] === true;
    const all = this.found(node, begin, bound);
    const found = (isDown ? all.reverse() : all).slice(0, limit);
    const idleMs = Number(query['stream_idle_timeout_ms'] ?? 500);
    const page = { at: asyncScheduler.now(), begin, order: node.listing };
    const elements = found.map((listed) => this.send(listed, page));
    return bound === undefined && found.length < limit
      ? this.tail(node, elements, { limit, idleMs, page })
      : of(ok(elements));
  }

  /** Waits for more, until there are enough or nothing has come for some time. */
  private tail(node: Participant, first: readonly object[], { limit, idleMs, page }: Tail): Observable<Reply> {
    return new Observable((subscriber) => {
      const elements = [...first];
      let idle = new Subscription();
      const finish = (): void => {
        subscriber.next(ok(elements));
        subscriber.complete();
      };
      const wait = (): void => {
        idle.unsubscribe();
        idle = timer(idleMs).subscribe(finish);
      };
      const push = (element: object): void => {
        elements.push(element);
        if (elements.length >= limit) finish();
        else wait();
      };
      const all = this.news(node, page).subscribe(push);
      wait();
      return () => {
        all.unsubscribe();
        idle.unsubscribe();
      };
    });
  }

  /** The updates of a range that the reader sees. */
  found(node: Participant, begin: number, bound = Infinity): Listed[] {
    return node.listing.filter((listed) => listed.offset > begin && listed.offset <= bound && this.selects(listed));
  }

  /** Emits what comes after the updates of a page, and checkpoints. */
  news(node: Participant, page: Sent): Observable<object> {
    const { checkpointMs } = this.settings;
    const news$ = node.listed$.pipe(
      filter((listed) => this.selects(listed)),
      map((listed) => this.send(listed, page)),
    );
    if (checkpointMs === null) return news$;
    return merge(news$, timer(checkpointMs, checkpointsMs).pipe(map(() => this.checkpoint(node))));
  }

  private checkpoint(node: Participant): object {
    const times = node.times();
    this.checkpoints.push({ times, at: asyncScheduler.now() });
    const synchronizerTimes = [...times].map(([synchronizerId, time]) => ({
      synchronizerId,
      recordTime: formatTime(time),
    }));
    return { update: { OffsetCheckpoint: { value: { offset: node.end, synchronizerTimes } } } };
  }

  /** When the first page was requested that had an update, in milliseconds. */
  sentAt(updateId: string): number {
    return this.sent.get(updateId)?.[0]?.at ?? Infinity;
  }

  private readonly selects = ({ record }: Listed): boolean => seenOf(record, this.sees).length > 0;

  /** Notes that a page has an update. */
  note({ updateId }: Recorded, page: Sent): void {
    this.sent.set(updateId, [...(this.sent.get(updateId) ?? []), page]);
  }

  send(listed: Listed, page: Sent): object {
    this.note(listed.record, page);
    return this.elementOf(listed);
  }

  private readonly elementOf = ({ record, offset }: Listed): object =>
    elementOf(record, offset, seenOf(record, this.sees));

  /** When an update became visible, in milliseconds; `-1` if it has always been. */
  visibleFrom({ events }: Recorded): number {
    return Math.min(...events.map(({ sight }) => this.seenFrom.get(sight) ?? Infinity));
  }

  failWith(how: 'cut' | '503' | '404'): Reply {
    if (how === 'cut') return refusedConnection;
    return how === '503' ? errorReply(503, 'Service Unavailable') : errorReply(404, '<html>not found</html>');
  }
}

/** A page, or a part of it, that was sent. */
export interface Sent {
  /** When its request came, in milliseconds. */
  readonly at: number;
  readonly begin: number;
  readonly order: readonly Listed[];
}

interface Tail {
  readonly limit: number;
  readonly idleMs: number;
  readonly page: Sent;
}
