import { describe, expect, it, jest } from '@jest/globals';
import { asyncScheduler, concat, NEVER, of, takeUntil, throwError, timer, type Observable } from 'rxjs';
import type { Transport } from '../../src/feed/LedgerFeed.js';
import type { SocketSign } from '../../src/ws/SocketPort.js';
import { socketTransport } from '../../src/ws/socketTransport.js';
import { observe, offsets } from '../helpers/observe.js';
import { checkpoint, transaction, errorBody } from '../helpers/wire.js';
import { fill, upTo, world, type World } from '../helpers/world.js';
import { marbles } from '../helpers/time.js';
import { scriptedSockets, socketEnd, socketOpen, socketText } from '../helpers/scripted.js';
import { socketWorld, tags, polls, after, silentSocket } from './worlds.js';

describe('a feed by WebSocket', () => {
  it('catches up by pages, and then gets each update pushed, without polls', () => {
    marbles(({ flush }) => {
      const its = socketWorld({}, { updates: 5 });
      flush();
      expect(offsets(its.seen.values)).toEqual(upTo(505));
      expect(its.seen.times.slice(-5)).toEqual([1_000, 2_000, 3_000, 4_000, 5_000]);
      expect(polls(its)).toBe(0);
      expect(its.sockets.requests).toMatchObject([{ path: '/v2/updates/flats', body: { beginExclusive: 500 } }]);
      expect(its.sockets.requests[0]?.body).not.toHaveProperty('endInclusive');
      expect(tags(its.events).filter((tag) => tag !== 'PollSent' && tag !== 'PageReceived')).toEqual([
        'FeedStarted',
        'CaughtUp',
        'SocketOpened',
        'FeedEnded',
      ]);
    });
  });

  it('closes the socket when it is unsubscribed from, and leaves no timer', () => {
    marbles(({ flush }) => {
      const its = socketWorld({}, { forMs: 700 });
      flush();
      expect(its.sockets.requests).toHaveLength(1);
      expect(its.sockets.open).toBe(0);
      expect(asyncScheduler.now()).toBe(700);
    });
  });

  it('continues from its cursor after a lost socket, and reads missed updates over HTTP', () => {
    marbles(({ flush }) => {
      const its = socketWorld({});
      timer(2_500).subscribe(() => {
        its.ledger.disconnect();
        fill(its.ledger, 501, 502);
      });
      timer(10_000).subscribe(() => {
        fill(its.ledger, 503);
      });
      flush();
      expect(offsets(its.seen.values)).toEqual(upTo(503));
      // the ledger end, a page, and the proof that the ledger is the same
      expect(its.seen.times.slice(-3)).toEqual([2_515, 2_515, 10_000]);
      expect(its.sockets.requests.map(({ body }) => body['beginExclusive'])).toEqual([500, 502]);
    });
  });

  it.each([1000, 1001, 1006, 1011])(
    'treats a close with %i as the end of the socket, not of the feed (G21)',
    (code) => {
      marbles(({ flush }) => {
        const its = socketWorld(
          {
            socketFault: (_, count) => (count < 3 ? concat(of(socketOpen), after(1_500, socketEnd(code))) : undefined),
          },
          { updates: 20 },
        );
        flush();
        expect(offsets(its.seen.values)).toEqual(upTo(520));
        expect(its.seen.completed).toBe(true);
        const closed = its.events.flatMap((event) => (event._tag === 'SocketClosed' ? [event.cause] : []));
        expect(closed[0]).toMatchObject({ _tag: 'ConnectionError', reason: `the socket was closed with ${code}` });
        expect(its.sockets.requests.length).toBeGreaterThanOrEqual(3);
      });
    },
  );

  it('polls if the upgrade is refused, delays no update, and retries ever less often (G22)', () => {
    marbles(({ flush }) => {
      const refused = () => throwError(() => new Error('Unexpected server response: 400'));
      const its = socketWorld({ socketFault: refused }, { forMs: 3_600_000, updates: 1_000 });
      flush();
      expect(offsets(its.seen.values)).toEqual(upTo(1_500));
      expect(its.seen.times.slice(500).every((ms, i) => ms <= 1_000 * (i + 1) + 50)).toBe(true);
      // at most once in five minutes in the end; at random more often in the beginning
      expect(its.sockets.requests.length).toBeGreaterThan(8);
      expect(its.sockets.requests.length).toBeLessThan(80);
    });
  });

  it('waits ten seconds for a socket to open (G22)', () => {
    marbles(({ flush }) => {
      const its = socketWorld({ socketFault: () => NEVER }, { updates: 12 });
      flush();
      expect(offsets(its.seen.values)).toEqual(upTo(512));
      expect(its.events.find(({ _tag }) => _tag === 'SocketClosed')).toMatchObject({ at: 10_015 });
    });
  });

  it('treats a socket without a sign of life as lost, but not one that answers pings (G22)', () => {
    const silentUntil = (pongs: boolean): number => {
      let closedAt = Infinity;
      marbles(({ flush }) => {
        const its = socketWorld(
          { socketFault: (_, count) => (count === 1 ? silentSocket(pongs) : undefined) },
          { forMs: 200_000 },
        );
        timer(150_000).subscribe(() => {
          fill(its.ledger, 501);
        });
        flush();
        expect(offsets(its.seen.values)).toEqual(upTo(501));
        closedAt = its.events.find(({ _tag }) => _tag === 'SocketClosed')?.at ?? Infinity;
      });
      return closedAt;
    };
    expect(silentUntil(false)).toBe(30_015);
    // but a socket without even a checkpoint is
    expect(silentUntil(true)).toBe(100_015);
  });

  it('switches to the other path if the ledger says so by the socket', () => {
    marbles(({ flush }) => {
      const disabled = () => of(socketOpen, socketText(errorBody('DEPRECATED_API_DISABLED', 9)), socketEnd(1000));
      const its = socketWorld(
        { socketFault: ({ path }) => (path === '/v2/updates/flats' ? disabled() : undefined) },
        { updates: 3 },
      );
      flush();
      expect(its.sockets.requests.map(({ path }) => path)).toEqual(['/v2/updates/flats', '/v2/updates']);
      expect(tags(its.events)).toContain('EndpointSwitched');
      expect(offsets(its.seen.values)).toEqual(upTo(503));
    });
  });

  it('repeats a request over HTTP after an error of the ledger, which decides what it means', () => {
    marbles(({ flush }) => {
      const its = socketWorld({
        socketFault: () => of(socketOpen, socketText({ ...errorBody('NA', -1), grpcCodeValue: 16 }), socketEnd(1000)),
      });
      flush();
      expect(its.seen.error).toBeUndefined();
      expect(its.events.find(({ _tag }) => _tag === 'SocketClosed')).toMatchObject({
        cause: { _tag: 'ApiError', status: 401, code: 'NA' },
      });
      expect(polls(its)).toBeGreaterThan(0);
    });
  });

  it('ends with an OrderError if offsets go backwards, and emits no wrong update', () => {
    marbles(({ flush }) => {
      const back = concat(of(socketOpen, socketText(transaction(510)), socketText(transaction(505))), NEVER);
      const its = socketWorld({ socketFault: () => back });
      flush();
      expect(offsets(its.seen.values)).toEqual([...upTo(500), 510]);
      expect(its.seen.error).toMatchObject({ _tag: 'OrderError', offset: 505 });
      expect(its.sockets.open).toBe(0);
    });
  });

  it('counts sockets of many feeds that end at the same time as one failure', () => {
    marbles(({ flush }) => {
      const its = world({ latencyMs: 5 });
      fill(its.ledger, 1);
      const feeds = Array.from({ length: 20 }, () =>
        observe(its.feed({}, its.websocket).pipe(takeUntil(timer(60_000)))),
      );
      timer(1_000).subscribe(() => {
        its.ledger.disconnect();
      });
      timer(20_000).subscribe(() => {
        expect(its.sockets.open).toBe(20);
      });
      flush();
      expect(feeds.every(({ completed }) => completed)).toBe(true);
    });
  });

  it.each<[string, () => Observable<SocketSign>]>([
    ['is found half open by a check', () => concat(after(2, socketOpen), NEVER)],
    ['keeps back what there is', () => silentSocket(true)],
  ])('closes everything before the next request: a socket %s', (_, socketFault) => {
    marbles(({ flush }) => {
      const wrong: string[] = [];
      const fault = (): undefined => {
        const ended = its.events.filter(({ _tag }) => _tag === 'SocketClosed').length;
        if (ended > 0 && its.service.open > 1) wrong.push('two requests at a time');
        if (ended === its.sockets.requests.length && its.sockets.open > 0)
          wrong.push('a request beside a socket that is given up');
      };
      const its: ReturnType<typeof socketWorld> = socketWorld({ socketFault, fault }, { forMs: 60_000 });
      timer(35_000).subscribe(() => {
        fill(its.ledger, 501);
      });
      flush();
      expect(tags(its.events)).toContain('SocketClosed');
      expect(offsets(its.seen.values)).toEqual(upTo(501));
      expect(wrong).toEqual([]);
    });
  });

  it('uses the transport of its ledger, unless it has another', () => {
    const socketsOpened = (options: (its: World) => Parameters<World['feed']>[1]): readonly number[] => {
      let counts: readonly number[] = [];
      marbles(({ flush }) => {
        const ofLedger = scriptedSockets(() => silentSocket(true));
        const its = world({ latencyMs: 5, client: { transport: socketTransport(ofLedger.port) } });
        fill(its.ledger, 1);
        observe(its.feed({}, options(its)).pipe(takeUntil(timer(1_000))));
        flush();
        counts = [ofLedger, its.sockets].map(({ requests }) => requests.length);
      });
      return counts;
    };
    expect(socketsOpened(() => ({}))).toEqual([1, 0]);
    expect(socketsOpened(() => ({ transport: undefined }))).toEqual([1, 0]);
    expect(socketsOpened(() => ({ transport: 'http' }))).toEqual([0, 0]);
    expect(socketsOpened(({ websocket }) => websocket)).toEqual([0, 1]);
  });

  it('refuses an unknown transport', () => {
    const { feed } = world();
    expect(() => feed({}, { transport: 'ws' as 'http' })).toThrow(TypeError);
    expect(() => world({ client: { transport: {} as Transport } })).toThrow(TypeError);
  });

  it('moves its cursor on checkpoints, so that the next socket begins there', () => {
    marbles(({ flush }) => {
      const its = socketWorld({
        socketFault: (_, count) =>
          count === 1
            ? of(socketOpen, socketText(checkpoint(500)), socketText(checkpoint(700)), socketEnd(1006))
            : undefined,
      });
      its.ledger.end = 700;
      flush();
      expect(its.sockets.requests.at(-1)?.body).toMatchObject({ beginExclusive: 700 });
    });
  });

  it('polls up to an end, and requests pages in descending order', () => {
    marbles(({ flush }) => {
      const its = world({ latencyMs: 5 });
      fill(its.ledger, ...upTo(10));
      const bounded = observe(its.feed({ endInclusive: 12 }, its.websocket));
      const down = observe(its.feed({ endInclusive: 10, descendingOrder: true }, its.websocket));
      timer(3_000).subscribe(() => {
        fill(its.ledger, 11, 12);
      });
      flush();
      expect(offsets(bounded.values)).toEqual(upTo(12));
      expect(bounded.completed && down.completed).toBe(true);
      expect(its.sockets.requests).toEqual([]);
    });
  });

  it('polls until it has caught up with a service that does not serve its ledger end', () => {
    marbles(({ flush }) => {
      const its = socketWorld({ hasLedgerEnd: false }, { updates: 10 });
      flush();
      expect(offsets(its.seen.values)).toEqual(upTo(510));
      expect(its.sockets.requests.length).toBeGreaterThan(0);
    });
  });

  it('opens another socket even if the clock was set back', () => {
    marbles(({ flush }) => {
      const real = asyncScheduler.now.bind(asyncScheduler);
      const spy = jest.spyOn(asyncScheduler, 'now').mockImplementation(() => real() - (real() < 100 ? 0 : 3_600_000));
      const its = socketWorld(
        { socketFault: (_, count) => (count === 1 ? of(socketOpen, socketEnd(1006)) : undefined) },
        { forMs: 20_000 },
      );
      flush();
      spy.mockRestore();
      expect(its.sockets.requests).toHaveLength(2);
    });
  });

  it('gets a token from the provider for each socket', () => {
    marbles(({ flush }) => {
      let n = 0;
      const token = (): string => `token-${(n += 1)}`;
      const its = socketWorld(
        { client: { token }, socketFault: (_, count) => (count === 1 ? of(socketOpen, socketEnd(1006)) : undefined) },
        { updates: 5 },
      );
      flush();
      const sent = its.sockets.requests.map(({ headers }) => headers['authorization']);
      expect(new Set(sent).size).toBe(sent.length);
      expect(sent[0]).toMatch(/^Bearer token-\d+$/);
    });
  });
});
