/** Mistakes of other clients of this ledger: handlers that overtake each other, feeds that cannot be stopped, unbounded queues. */
import { once } from 'node:events';
import { afterEach, describe, expect, it } from '@jest/globals';
import { concatMap, defer, map, mergeMap, repeat, share, take, takeUntil, tap, timer, type Observable } from 'rxjs';
import { createLedger } from '../../../src/ledger/createLedger.js';
import { toEither } from '../../../src/operators/toEither.js';
import { observe } from '../../helpers/observe.js';
import { fill, updateFormat, upTo, world } from '../../helpers/world.js';
import { httpServer, type HttpServer } from '../../helpers/localServers.js';
import { marbles } from '../../helpers/time.js';
import { errorReply } from '../../helpers/wire.js';

/** A handler that takes less time for each update than for the one before. */
class Handler {
  readonly done: number[] = [];
  /** How many updates were emitted and are not handled. */
  waiting = 0;
  mostWaiting = 0;

  readonly come = <A>(source: Observable<A>): Observable<A> =>
    source.pipe(
      tap(() => {
        this.waiting += 1;
        this.mostWaiting = Math.max(this.mostWaiting, this.waiting);
      }),
    );

  readonly handle = ({ offset }: { readonly offset: number }): Observable<number> =>
    timer(Math.max(2, 40 - offset)).pipe(
      map(() => {
        this.waiting -= 1;
        this.done.push(offset);
        return offset;
      }),
    );
}

describe('a slow asynchronous handler', () => {
  it('handles the updates in order with concatMap, while no more requests are open than parallelRanges allows', () => {
    marbles(({ flush }) => {
      let most = 0;
      const { ledger, service, feed } = world({
        latencyMs: 5,
        fault: () => {
          most = Math.max(most, service.open);
          return undefined;
        },
      });
      fill(ledger, ...upTo(30));
      const handler = new Handler();
      observe(feed({ endInclusive: 30 }, { maxPageSize: 7, parallelRanges: 2 }).pipe(concatMap(handler.handle)));
      flush();
      expect(handler.done).toEqual(upTo(30));
      expect(most).toBe(2);
      // with mergeMap it does not
      const racing = new Handler();
      observe(feed({ endInclusive: 30 }).pipe(mergeMap(racing.handle)));
      flush();
      expect(racing.done).toEqual(upTo(30).reverse());
    });
  });

  it('that a failure overtakes loses nothing: unhandled updates are emitted again', () => {
    marbles(({ flush }) => {
      let isDown = true;
      const { ledger, feed } = world({
        fault: ({ body }) => (isDown && body['beginExclusive'] === 20 ? errorReply(403, 'no') : undefined),
      });
      fill(ledger, ...upTo(30));
      const handler = new Handler();
      const handle$ = defer(() =>
        feed({ beginExclusive: handler.done.at(-1) ?? 0, endInclusive: 30 }, { maxPageSize: 10 }),
      ).pipe(concatMap(handler.handle));
      const first = observe(handle$);
      flush();
      expect(first.error).toMatchObject({ status: 403 });
      isDown = false;
      observe(handle$);
      flush();
      expect(handler.done).toEqual(upTo(30));
    });
  });

  it('handles all updates before a failure that is materialized as a value', () => {
    marbles(({ flush }) => {
      const { ledger, feed } = world({
        fault: ({ body }) => (body['beginExclusive'] === 20 ? errorReply(403, 'no') : undefined),
      });
      fill(ledger, ...upTo(30));
      const handler = new Handler();
      const seen = observe(
        feed({}, { maxPageSize: 10 }).pipe(
          toEither(),
          concatMap((either) => (either._tag === 'Right' ? handler.handle(either.right) : [either.left])),
        ),
      );
      flush();
      expect(handler.done).toEqual(upTo(20));
      expect(seen.values.at(-1)).toMatchObject({ _tag: 'ApiError', status: 403 });
    });
  });

  it('queues at most one window of offsets, if it reads the ledger in windows', () => {
    marbles(({ flush }) => {
      const { ledger, feed } = world();
      fill(ledger, ...upTo(1_000));
      const handler = new Handler();
      let cursor = 0;
      const window$ = defer(() => {
        const endInclusive = cursor + 50;
        return feed({ beginExclusive: cursor, endInclusive }).pipe(
          handler.come,
          concatMap(handler.handle),
          tap({ complete: () => (cursor = endInclusive) }),
        );
      });
      observe(window$.pipe(repeat(20)));
      flush();
      expect(handler.done).toEqual(upTo(1_000));
      expect(handler.mostWaiting).toBe(50);
    });
  });

  // the feed pushes, so unhandled updates wait in concatMap: on a long catch-up, all of them
});

describe('a synchronous handler', () => {
  it('never receives more than the page that was requested when it had handled the last', () => {
    marbles(({ flush }) => {
      const had: number[] = [];
      const hadWhenAsked: number[] = [];
      const { ledger, feed } = world({
        fault: ({ query }) => {
          if ('limit' in query) hadWhenAsked.push(had.length);
          return undefined;
        },
      });
      fill(ledger, ...upTo(250));
      feed({ endInclusive: 250 }, { maxPageSize: 50 }).subscribe(({ offset }) => had.push(offset));
      flush();
      expect(hadWhenAsked).toEqual([0, 50, 100, 150, 200]);
    });
  });
});

describe('a feed that is unsubscribed', () => {
  it.each([
    ['while it is idle', 4_000],
    ['while it waits for its first answer', 2],
  ])('ends its request at once: %s', (_, after) => {
    marbles(({ flush }) => {
      const { service, feed } = world({ latencyMs: 5 });
      const { subscription } = observe(feed());
      timer(after).subscribe(() => {
        expect(service.open).toBe(1);
        subscription.unsubscribe();
        expect(service.open).toBe(0);
        expect(service.aborted).toHaveLength(1);
      });
      flush();
      expect(service.aborted).toHaveLength(1);
    });
  });

  it.each<[string, <A>(source: Observable<A>) => Observable<A>]>([
    ['take', take(3)],
    ['takeUntil', takeUntil(timer(6))],
    ['the last of a share', (source) => source.pipe(share(), take(3))],
  ])('in the middle of a ledger sends no more requests: %s', (_, stopping) => {
    marbles(({ flush }) => {
      const { ledger, service, feed } = world({ latencyMs: 5 });
      fill(ledger, ...upTo(1_000));
      const seen = observe(feed({}, { maxPageSize: 3 }).pipe(stopping));
      flush();
      timer(100_000).subscribe();
      flush();
      expect(seen.completed).toBe(true);
      expect(service.requests.length).toBeLessThanOrEqual(2);
      expect(service.open).toBe(0);
    });
  });

  const servers: HttpServer[] = [];
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.close()));
  });

  it('closes its connection to the server', async () => {
    const polling = new EventTarget();
    const server = await httpServer((request, response) => {
      if (request.url?.endsWith('ledger-end') === true) response.end('{"offset":0}');
      else polling.dispatchEvent(new Event('poll'));
    });
    servers.push(server);
    const isPolling = once(polling, 'poll');
    const { subscription } = observe(
      createLedger({ baseUrl: server.url }).updates({ beginExclusive: 0, updateFormat }, { idleTimeoutMs: 60_000 }),
    );
    await isPolling;
    const at = performance.now();
    subscription.unsubscribe();
    await server.aborted;
    expect(performance.now() - at).toBeLessThan(30_000);
  });
});
