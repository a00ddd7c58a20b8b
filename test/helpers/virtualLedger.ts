import { concat, defer, EMPTY, from, map, merge, Observable, of, Subject, Subscription } from 'rxjs';
import { switchMap, take, takeWhile, throwError, timer } from 'rxjs';
import type { SocketSign } from '../../src/http/SocketPort.js';
import { canton, failed, notFound, ok, type Asked, type Reply } from './scripted.js';
import { end, open, text, type AskedSocket } from './scriptedSockets.js';
import { checkpoint } from './wire.js';

/** What a virtual ledger is like. */
export interface VirtualOptions {
  readonly maxListElements?: number;
  /** When a tail gets a checkpoint after its start, in milliseconds; never, if absent. */
  readonly earlyCheckpointMs?: number | undefined;
  readonly hasLedgerEnd?: boolean;
  readonly latencyMs?: number;
  /** What it says its id is; an unknown path otherwise. */
  readonly participantId?: string | undefined;
  /** Whether `/v2/updates/flats` is there; 3.6 answers it with an error of its own, or not at all. */
  readonly flats?: 'served' | 'disabled' | 'gone';
  readonly updates?: 'served' | 'gone';
}

export interface Entry {
  readonly offset: number;
  readonly element: object;
}

/** A ledger service whose list algorithm runs in the test's time; the test appends to it. */
export class VirtualLedger {
  /** How far the ledger has come, also by what matches no request. */
  end = 0;
  /** Up to where it is pruned. */
  pruned = 0;
  private entries: Entry[] = [];
  private readonly appended = new Subject<Entry>();
  private readonly cuts = new Subject<Error>();
  private readonly lists = new WeakMap<object, readonly Entry[]>();

  constructor(private options: VirtualOptions = {}) {}

  /** Changes what the service is like, as an upgrade or another replica does. */
  become(changes: VirtualOptions): void {
    this.options = { ...this.options, ...changes };
  }

  append(offset: number, element: object): void {
    const entry = { offset, element };
    this.end = offset;
    this.entries.push(entry);
    this.appended.next(entry);
  }

  /** Breaks all connections, as a restart does. */
  cut(): void {
    this.cuts.next(new Error('restarting'));
  }

  /** Forgets everything behind an offset, as the restore of an older backup does. */
  restore(offset: number): void {
    this.entries = this.entries.filter((entry) => entry.offset <= offset);
    this.end = offset;
    this.cut();
  }

  /** What has been appended, pruned or not. */
  between(beginExclusive: number, endInclusive: number): readonly Entry[] {
    return this.entries.filter(({ offset }) => offset > beginExclusive && offset <= endInclusive);
  }

  /** An answer with these elements. */
  page(entries: readonly Entry[]): Reply {
    const reply = ok(entries.map(({ element }) => element));
    this.lists.set(reply, entries);
    return reply;
  }

  /** The elements of such an answer. */
  entriesIn(reply: Reply): readonly Entry[] | undefined {
    return this.lists.get(reply);
  }

  /** For `scripted`; `end` is how far the replica has come that answers. */
  readonly answer = (asked: Asked, end?: number): Observable<Reply> => {
    const { latencyMs = 0 } = this.options;
    const reply$ = defer(() => this.stateOf(asked, end) ?? this.refusalOf(asked) ?? this.list(asked, end));
    const answer$ = latencyMs === 0 ? reply$ : timer(latencyMs).pipe(switchMap(() => reply$));
    return merge(this.cuts, answer$).pipe(take(1));
  };

  /** For `scriptedSockets`. */
  readonly push = (asked: AskedSocket): Observable<SocketSign> =>
    this.pushes(asked).pipe(map((sign) => ('element' in sign ? text(sign.element) : sign)));

  /** The same, with the elements as they are. */
  readonly pushes = ({ path, body }: AskedSocket): Observable<SocketSign | Entry> => {
    const { latencyMs = 0, earlyCheckpointMs } = this.options;
    const lost$ = this.cuts.pipe(map(() => end(1006)));
    const opened$ = defer(() => {
      const begin = Number(body['beginExclusive']);
      const refusal = this.refusalIn({ path, begin });
      if (refusal === 'gone') return throwError(() => new Error('Unexpected server response: 404'));
      if (refusal !== undefined) return of(open, text(refusal), end(1000));
      const early$ = earlyCheckpointMs === undefined ? EMPTY : timer(earlyCheckpointMs);
      return concat(
        of(open),
        from(this.between(begin, this.end)),
        merge(this.appended, early$.pipe(map((): Entry => ({ offset: this.end, element: checkpoint(this.end) })))),
      );
    });
    return merge(lost$, latencyMs === 0 ? opened$ : timer(latencyMs).pipe(switchMap(() => opened$))).pipe(
      takeWhile((sign) => 'element' in sign || sign._tag !== 'End', true),
    );
  };

  private refusalIn({ path, begin }: { path: string; begin: number }): object | 'gone' | undefined {
    const { flats = 'served', updates = 'served' } = this.options;
    const served = path.endsWith('/v2/updates/flats') ? flats : updates;
    if (served === 'gone') return 'gone';
    if (served === 'disabled') return canton('DEPRECATED_API_DISABLED', 9);
    if (begin > this.end) return canton('OFFSET_AFTER_LEDGER_END', 12);
    if (begin < this.pruned) return canton('PARTICIPANT_PRUNED_DATA_ACCESSED', 9);
    return undefined;
  }

  private stateOf({ path }: Asked, end = this.end): Observable<Reply> | undefined {
    const { hasLedgerEnd = true, participantId } = this.options;
    if (path.endsWith('/v2/state/ledger-end')) return of(hasLedgerEnd ? ok({ offset: end }) : notFound);
    if (!path.endsWith('/v2/parties/participant-id')) return undefined;
    return of(participantId === undefined ? notFound : ok({ participantId }));
  }

  private refusalOf({ path }: Asked): Observable<Reply> | undefined {
    const { flats = 'served', updates = 'served' } = this.options;
    const served = path.endsWith('/v2/updates/flats') ? flats : updates;
    if (served === 'gone') return of(notFound);
    return served === 'disabled' ? of(failed(400, canton('DEPRECATED_API_DISABLED', 9))) : undefined;
  }

  private list({ query, body }: Asked, laggingEnd?: number): Observable<Reply> {
    const { maxListElements = 200 } = this.options;
    const begin = Number(body['beginExclusive']);
    const bound = typeof body['endInclusive'] === 'number' ? body['endInclusive'] : undefined;
    const end = laggingEnd ?? this.end;
    if (Math.max(begin, bound ?? 0) > end) return of(failed(400, canton('OFFSET_AFTER_LEDGER_END', 12)));
    if (begin < this.pruned)
      return of(failed(400, canton('PARTICIPANT_PRUNED_DATA_ACCESSED', 9, { earliest_offset: String(this.pruned) })));
    if (begin > (bound ?? Infinity)) return of(failed(400, canton('OFFSET_OUT_OF_RANGE', 9)));
    const limit = Math.min(Number(query['limit'] ?? Infinity), maxListElements + 1);
    const known = [...this.between(begin, Math.min(bound ?? Infinity, end))];
    const sorted = body['descendingOrder'] === true ? known.reverse() : known;
    const entries = sorted.slice(0, limit);
    const idleMs = Number(query['stream_idle_timeout_ms'] ?? 500);
    const isTail = bound === undefined && entries.length < limit && laggingEnd === undefined;
    const all$ = isTail ? this.tail(entries, limit, idleMs) : of(entries);
    return all$.pipe(
      map((list) =>
        list.length > maxListElements
          ? failed(413, canton('JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED', 2))
          : this.page(list),
      ),
    );
  }

  /** The known elements and those that come, until the limit is reached or nothing comes for a while. */
  private tail(known: readonly Entry[], limit: number, idleMs: number): Observable<readonly Entry[]> {
    return new Observable((subscriber) => {
      const entries = [...known];
      let idle = new Subscription();
      const finish = (): void => {
        subscriber.next(entries);
        subscriber.complete();
      };
      const rest = (): void => {
        idle.unsubscribe();
        idle = timer(idleMs).subscribe(finish);
      };
      const push = (entry: Entry): void => {
        entries.push(entry);
        if (entries.length >= limit) finish();
        else rest();
      };
      const { earlyCheckpointMs } = this.options;
      const all = this.appended.subscribe(push);
      if (earlyCheckpointMs !== undefined)
        all.add(
          timer(earlyCheckpointMs).subscribe(() => {
            push({ offset: this.end, element: checkpoint(this.end) });
          }),
        );
      rest();
      return () => {
        all.unsubscribe();
        idle.unsubscribe();
      };
    });
  }
}
