import { defer, map, Observable, of, Subject, Subscription, switchMap, timer } from 'rxjs';
import { canton, failed, notFound, ok, type Asked, type Reply } from './scripted.js';
import { checkpoint } from './wire.js';

/** What a virtual ledger is like. */
export interface VirtualOptions {
  readonly maxListElements?: number;
  /** When a tail gets a checkpoint after its start, in milliseconds; never, if absent. */
  readonly earlyCheckpointMs?: number;
  readonly hasLedgerEnd?: boolean;
  readonly latencyMs?: number;
}

interface Entry {
  readonly offset: number;
  readonly element: object;
}

/** A ledger service whose list algorithm runs in the test's time; the test appends to it. */
export class VirtualLedger {
  /** How far the ledger has come, also by what matches no request. */
  end = 0;
  private readonly entries: Entry[] = [];
  private readonly appended = new Subject<object>();

  constructor(private readonly options: VirtualOptions = {}) {}

  append(offset: number, element: object): void {
    this.end = offset;
    this.entries.push({ offset, element });
    this.appended.next(element);
  }

  /** For `scripted`. */
  readonly answer = (asked: Asked): Observable<Reply> => {
    const { latencyMs = 0, hasLedgerEnd = true } = this.options;
    const reply$ = asked.path.endsWith('/v2/state/ledger-end')
      ? defer(() => of(hasLedgerEnd ? ok({ offset: this.end }) : notFound))
      : defer(() => this.list(asked));
    return latencyMs === 0 ? reply$ : timer(latencyMs).pipe(switchMap(() => reply$));
  };

  private list({ query, body }: Asked): Observable<Reply> {
    const { maxListElements = 200 } = this.options;
    const begin = Number(body['beginExclusive']);
    const bound = typeof body['endInclusive'] === 'number' ? body['endInclusive'] : undefined;
    if (Math.max(begin, bound ?? 0) > this.end) return of(failed(400, canton('OFFSET_AFTER_LEDGER_END', 12)));
    const limit = Math.min(Number(query['limit'] ?? Infinity), maxListElements + 1);
    const known = this.entries.filter(({ offset }) => offset > begin && offset <= (bound ?? Infinity));
    const sorted = body['descendingOrder'] === true ? known.reverse() : known;
    const elements = sorted.slice(0, limit).map(({ element }) => element);
    const idleMs = Number(query['stream_idle_timeout_ms'] ?? 500);
    const all$ = bound === undefined && elements.length < limit ? this.tail(elements, limit, idleMs) : of(elements);
    return all$.pipe(
      map((list) =>
        list.length > maxListElements
          ? failed(413, canton('JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED', 2))
          : ok(list),
      ),
    );
  }

  /** The known elements and those that come, until the limit is reached or nothing comes for a while. */
  private tail(known: readonly object[], limit: number, idleMs: number): Observable<readonly object[]> {
    return new Observable((subscriber) => {
      const elements = [...known];
      let idle = new Subscription();
      const finish = (): void => {
        subscriber.next(elements);
        subscriber.complete();
      };
      const rest = (): void => {
        idle.unsubscribe();
        idle = timer(idleMs).subscribe(finish);
      };
      const push = (element: object): void => {
        elements.push(element);
        if (elements.length >= limit) finish();
        else rest();
      };
      const { earlyCheckpointMs } = this.options;
      const all = this.appended.subscribe(push);
      if (earlyCheckpointMs !== undefined)
        all.add(
          timer(earlyCheckpointMs).subscribe(() => {
            push(checkpoint(this.end));
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
