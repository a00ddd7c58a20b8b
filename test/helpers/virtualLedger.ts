import { concat, concatMap, defer, EMPTY, from, map, merge, Observable, of, Subject, Subscription } from 'rxjs';
import { switchMap, take, takeWhile, throwError, timer } from 'rxjs';
import type { SocketSign } from '../../src/ws/SocketPort.js';
import { type Reply, type ServiceRequest, socketEnd, socketOpen, type SocketRequest, socketText } from './scripted.js';
import { checkpoint, completionCheckpoint, errorBody, errorReply, notFound, ok } from './wire.js';

/** The behaviour of a virtual ledger. */
export interface VirtualOptions {
  readonly maxListElements?: number;
  /**
   * The time from the start of an open-ended stream to its checkpoint, in milliseconds, for all streams or by the offset
   * after which one begins. No checkpoint if absent.
   */
  readonly earlyCheckpointMs?: number | ((beginExclusive: number) => number | undefined) | undefined;
  /** The record time in checkpoints; by default always the same. */
  readonly recordTime?: (() => string) | undefined;
  readonly hasLedgerEnd?: boolean;
  readonly latencyMs?: number;
  /** The participant id. If absent, its path is unknown. */
  readonly participantId?: string | undefined;
  /** Whether `/v2/updates/flats` is served. 3.6 has it disabled, later releases do not have it. */
  readonly flats?: 'served' | 'disabled' | 'gone';
  readonly updates?: 'served' | 'gone';
  /** Whether the deprecated path of completions is served, and the one that replaces it. */
  readonly completions?: 'served' | 'disabled' | 'gone';
  readonly commandCompletions?: 'served' | 'gone';
  /** What a request sees of an element; `undefined` for nothing. By default everything. */
  readonly show?: (element: object, body: ServiceRequest['body']) => object | undefined;
  /** The time until a request without an end finds the first existing element, in milliseconds. Default: none. */
  readonly searchMs?: number;
}

export interface Entry {
  readonly offset: number;
  readonly element: object;
}

/** A list without an end. */
interface Tail {
  readonly begin: number;
  readonly existing: () => readonly Entry[];
  readonly limit: number;
  readonly idleMs: number;
  readonly searchMs: number;
  readonly seen: (entry: Entry) => readonly Entry[];
  readonly path: string;
}

/** Whether a request selects an entry: the deprecated path of completions has those of one user. */
const selection =
  ({ userId }: Readonly<Record<string, unknown>>) =>
  ({ element }: Entry): boolean => {
    const { completionResponse }: { completionResponse?: { Completion?: { value: { userId: string } } } } = element;
    const user = completionResponse?.Completion?.value.userId;
    return user === undefined || typeof userId !== 'string' || userId === '' || user === userId;
  };

/** What a request sees of entries. */
const seenBy = (body: ServiceRequest['body'], show: VirtualOptions['show']): Tail['seen'] => {
  const selects = selection(body);
  return (entry) => {
    const element = show === undefined ? entry.element : show(entry.element, body);
    return element === undefined || !selects(entry) ? [] : [{ ...entry, element }];
  };
};

/** A ledger service in virtual time. The test appends its updates. */
export class VirtualLedger {
  /** The ledger end, which includes updates that no request selects. */
  end = 0;
  /** The pruned offset. */
  pruned = 0;
  private entries: Entry[] = [];
  private readonly appended = new Subject<Entry>();
  private readonly cuts = new Subject<Error>();
  private readonly lists = new WeakMap<object, readonly Entry[]>();

  constructor(private options: VirtualOptions = {}) {}

  /** Changes the behaviour of the service, as an upgrade or another replica does. */
  reconfigure(changes: VirtualOptions): void {
    this.options = { ...this.options, ...changes };
  }

  append(offset: number, element: object): void {
    const entry = { offset, element };
    this.end = offset;
    this.entries.push(entry);
    this.appended.next(entry);
  }

  /** Lets requests select an update that they did not, in its place among the others. */
  insert(offset: number, element: object): void {
    this.end = Math.max(this.end, offset);
    this.entries = [...this.entries, { offset, element }].sort((a, b) => a.offset - b.offset);
  }

  /** Closes all connections, as a restart does. */
  disconnect(): void {
    this.cuts.next(new Error('restarting'));
  }

  /** Removes everything after an offset, as the restore of an older backup does. */
  restore(offset: number): void {
    this.entries = this.entries.filter((entry) => entry.offset <= offset);
    this.end = offset;
    this.disconnect();
  }

  /** Puts another ledger in the place of this one, as a reset of the network or a changed address does. */
  replace(entries: readonly Entry[], end: number, participantId = this.options.participantId): void {
    this.entries = [...entries];
    this.end = end;
    this.pruned = 0;
    this.reconfigure({ participantId });
    this.disconnect();
  }

  /** Changes what the ledger has, and closes no connection. */
  replaceQuietly(entries: readonly Entry[], end: number): void {
    this.entries = [...entries];
    this.end = end;
  }

  /** The updates of a range, including pruned ones. */
  between(beginExclusive: number, endInclusive: number): readonly Entry[] {
    return this.entries.filter(({ offset }) => offset > beginExclusive && offset <= endInclusive);
  }

  /** A reply with the given elements. */
  page(entries: readonly Entry[]): Reply {
    const reply = ok(entries.map(({ element }) => element));
    this.lists.set(reply, entries);
    return reply;
  }

  /** The elements of a reply of `page`. */
  entriesOf(reply: Reply): readonly Entry[] | undefined {
    return this.lists.get(reply);
  }

  /** The replies for `scriptedService`. `end` is the ledger end of a replica that lags. */
  readonly reply = (request: ServiceRequest, end?: number): Observable<Reply> => {
    const { latencyMs = 0 } = this.options;
    const reply$ = defer(() => this.stateReply(request, end) ?? this.disabledReply(request) ?? this.list(request, end));
    const delayed$ = latencyMs === 0 ? reply$ : timer(latencyMs).pipe(switchMap(() => reply$));
    return merge(this.cuts, delayed$).pipe(take(1));
  };

  /** The streams for `scriptedSockets`. */
  readonly streamText = (request: SocketRequest): Observable<SocketSign> =>
    this.stream(request).pipe(map((sign) => ('element' in sign ? socketText(sign.element) : sign)));

  /** The same streams, with elements that are not encoded. */
  readonly stream = ({ path, body }: SocketRequest): Observable<SocketSign | Entry> => {
    const { latencyMs = 0, show } = this.options;
    const seen = seenBy(body, show);
    const lost$ = this.cuts.pipe(map(() => socketEnd(1006)));
    const opened$ = defer(() => {
      const begin = Number(body['beginExclusive']);
      const error = this.streamError({ path, begin });
      if (error === 'gone') return throwError(() => new Error('Unexpected server response: 404'));
      if (error !== undefined) return of(socketOpen, socketText(error), socketEnd(1000));
      const earlyMs = this.earlyMs(begin);
      const early$ = earlyMs === undefined ? EMPTY : timer(earlyMs);
      return concat(
        of(socketOpen),
        from(this.between(begin, this.end).flatMap(seen)),
        merge(this.appended.pipe(concatMap(seen)), early$.pipe(map(() => this.checkpoint(path)))),
      );
    });
    return merge(lost$, latencyMs === 0 ? opened$ : timer(latencyMs).pipe(switchMap(() => opened$))).pipe(
      takeWhile((sign) => 'element' in sign || sign._tag !== 'End', true),
    );
  };

  private streamError({ path, begin }: { path: string; begin: number }): object | 'gone' | undefined {
    const served = this.served(path);
    if (served === 'gone') return 'gone';
    if (served === 'disabled') return errorBody('DEPRECATED_API_DISABLED', 9);
    if (begin > this.end) return errorBody('OFFSET_AFTER_LEDGER_END', 12);
    if (begin < this.pruned) return errorBody('PARTICIPANT_PRUNED_DATA_ACCESSED', 9);
    return undefined;
  }

  private served(path: string): 'served' | 'disabled' | 'gone' {
    const { flats, updates, completions, commandCompletions } = this.options;
    if (path.endsWith('/command-completions')) return commandCompletions ?? 'served';
    if (path.endsWith('/completions')) return completions ?? 'served';
    return (path.endsWith('/v2/updates/flats') ? flats : updates) ?? 'served';
  }

  /** When a stream gets its checkpoint. */
  private earlyMs(beginExclusive: number): number | undefined {
    const { earlyCheckpointMs } = this.options;
    return typeof earlyCheckpointMs === 'function' ? earlyCheckpointMs(beginExclusive) : earlyCheckpointMs;
  }

  private checkpoint(path: string): Entry {
    const of = path.includes('completions') ? completionCheckpoint : checkpoint;
    return { offset: this.end, element: of(this.end, this.options.recordTime?.()) };
  }

  private stateReply({ path, body }: ServiceRequest, end = this.end): Observable<Reply> | undefined {
    const { hasLedgerEnd = true, participantId } = this.options;
    if (path.endsWith('/v2/updates/update-by-id')) return of(this.byId(body, end));
    if (path.endsWith('/v2/state/ledger-end')) return of(hasLedgerEnd ? ok({ offset: end }) : notFound);
    if (path.endsWith('/v2/state/connected-synchronizers')) return of(notFound);
    if (!path.endsWith('/v2/parties/participant-id')) return undefined;
    return of(participantId === undefined ? notFound : ok({ participantId }));
  }

  private byId({ updateId, ...body }: ServiceRequest['body'], end: number): Reply {
    const found = this.between(this.pruned, end)
      .flatMap(seenBy(body, this.options.show))
      .find(({ element }) => JSON.stringify(element).includes(`"updateId":"${String(updateId)}"`));
    return found === undefined ? errorReply(404, errorBody('UPDATE_NOT_FOUND', 11)) : ok(found.element);
  }

  private disabledReply({ path }: ServiceRequest): Observable<Reply> | undefined {
    const served = this.served(path);
    if (served === 'gone') return of(notFound);
    return served === 'disabled' ? of(errorReply(400, errorBody('DEPRECATED_API_DISABLED', 9))) : undefined;
  }

  private list({ path, query, body }: ServiceRequest, laggingEnd?: number): Observable<Reply> {
    const { maxListElements = 200 } = this.options;
    const begin = Number(body['beginExclusive']);
    const bound = typeof body['endInclusive'] === 'number' ? body['endInclusive'] : undefined;
    const end = laggingEnd ?? this.end;
    if (Math.max(begin, bound ?? 0) > end) return of(errorReply(400, errorBody('OFFSET_AFTER_LEDGER_END', 12)));
    if (begin < this.pruned)
      return of(
        errorReply(400, errorBody('PARTICIPANT_PRUNED_DATA_ACCESSED', 9, { earliest_offset: String(this.pruned) })),
      );
    if (begin > (bound ?? Infinity)) return of(errorReply(400, errorBody('OFFSET_OUT_OF_RANGE', 9)));
    const limit = Math.min(Number(query['limit'] ?? Infinity), maxListElements + 1);
    const seen = seenBy(body, this.options.show);
    const existing = (): readonly Entry[] => {
      const found = this.between(begin, Math.min(bound ?? Infinity, laggingEnd ?? this.end)).flatMap(seen);
      return (body['descendingOrder'] === true ? found.reverse() : found).slice(0, limit);
    };
    const entries = existing();
    const idleMs = Number(query['stream_idle_timeout_ms'] ?? 500);
    const { searchMs = 0 } = this.options;
    const isTail = bound === undefined && (entries.length < limit || searchMs > 0) && laggingEnd === undefined;
    const tail = { begin, existing, limit, idleMs, searchMs, seen, path };
    const all$ = isTail ? this.tail(tail) : of(entries);
    return all$.pipe(
      map((list) =>
        list.length > maxListElements
          ? errorReply(413, errorBody('JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED', 2))
          : this.page(list),
      ),
    );
  }

  /** Collects the existing elements and new ones, until the limit or the idle time is reached. */
  private tail({ begin, existing, limit, idleMs, searchMs, seen, path }: Tail): Observable<readonly Entry[]> {
    return new Observable((subscriber) => {
      const entries = searchMs > 0 ? [] : [...existing()];
      let idle = new Subscription();
      const finish = (): void => {
        subscriber.next(entries);
        subscriber.complete();
      };
      const restartIdleTimer = (): void => {
        idle.unsubscribe();
        idle = timer(idleMs).subscribe(finish);
      };
      const push = (entry: Entry): void => {
        entries.push(entry);
        if (entries.length >= limit) finish();
        else restartIdleTimer();
      };
      const earlyMs = this.earlyMs(begin);
      const found$ = searchMs > 0 ? timer(searchMs).pipe(switchMap(() => from(existing()))) : EMPTY;
      const all = concat(found$, this.appended.pipe(concatMap(seen))).subscribe(push);
      if (earlyMs !== undefined)
        all.add(
          // a checkpoint comes after everything before it
          timer(Math.max(earlyMs, searchMs)).subscribe(() => {
            push(this.checkpoint(path));
          }),
        );
      restartIdleTimer();
      return () => {
        all.unsubscribe();
        idle.unsubscribe();
      };
    });
  }
}
