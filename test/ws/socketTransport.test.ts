import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { asyncScheduler, concat, map, merge, NEVER, of, takeUntil, throwError, timer, type Observable } from 'rxjs';
import type { Transport } from '../../src/feed/LedgerFeed.js';
import type { SocketSign } from '../../src/ws/SocketPort.js';
import { socketTransport } from '../../src/ws/socketTransport.js';
import { observe, offsets } from '../helpers/observe.js';
import { scriptedSockets, socketEnd, socketOpen, type SocketRequest, socketText } from '../helpers/scripted.js';
import { itInVirtualTime, marbles } from '../helpers/time.js';
import { checkpoint, errorBody, errorReply, ok, transaction, transactionWith } from '../helpers/wire.js';
import { fill, upTo, world, type World, type WorldOptions } from '../helpers/world.js';
import { after, closed, gaps, play, polls, pong$, silentSocket, tags } from './worlds.js';

afterEach(() => {
  jest.restoreAllMocks();
});

/** A socket that was lost, in place of the first one. */
const lostFirst = (_: unknown, count: number) => (count === 1 ? of(socketOpen, socketEnd(1006)) : undefined);
const silent = () => silentSocket(true);
const unavailable = errorReply(503, errorBody('NA', -1));

describe('a feed by WebSocket', () => {
  it('catches up by pages, and then gets each update pushed, without polls', () => {
    const its = play({}, { updates: 5 });
    expect(offsets(its.seen.values)).toEqual(upTo(505));
    expect(its.seen.times.slice(-5)).toEqual([1_000, 2_000, 3_000, 4_000, 5_000]);
    expect(polls(its)).toBe(0);
    expect(its.sockets.requests).toMatchObject([{ path: '/v2/updates/flats', body: { beginExclusive: 499 } }]);
    expect(its.sockets.requests[0]?.body).not.toHaveProperty('endInclusive');
    expect(tags(its).filter((tag) => tag !== 'PollSent' && tag !== 'PageReceived')).toEqual([
      'FeedStarted',
      'CaughtUp',
      'SocketOpened',
      'FeedEnded',
    ]);
  });

  it('closes the socket when it is unsubscribed from, and leaves no timer', () => {
    const its = play({}, { forMs: 700 });
    expect([its.sockets.requests.length, its.sockets.open]).toEqual([1, 0]);
    expect(its.events.at(-1)).toMatchObject({ _tag: 'FeedEnded', at: 700 });
  });

  it('continues from its cursor after a lost socket, and reads missed updates over HTTP', () => {
    const disconnect = ({ ledger }: World): void => {
      ledger.disconnect();
      fill(ledger, 501, 502);
    };
    const its = play({}, { at: { 2_500: disconnect, 10_000: [503] } });
    expect(offsets(its.seen.values)).toEqual(upTo(503));
    // the ledger end, a page, and the proof that the ledger is the same
    expect(its.seen.times.slice(-3)).toEqual([2_515, 2_515, 10_000]);
    expect(its.sockets.requests.map(({ body }) => body['beginExclusive'])).toEqual([499, 501]);
  });

  it('goes back to its last update after an outage, however far its checkpoints have come since', () => {
    const late = transactionWith(100_000, { synchronizerId: 'sync2::1220ab', recordTime: '2026-07-24T11:00:00Z' });
    const checkpointed = ({ ledger }: World): void => {
      fill(ledger, 501);
      ledger.end = 200_000;
    };
    // a restored participant reads its synchronizers again, and in another order
    const restored = ({ ledger }: World): void => {
      ledger.insert(100_000, late);
      ledger.disconnect();
    };
    const its = play({ earlyCheckpointMs: 5_000 }, { at: { 1_000: checkpointed, 10_000: restored } });
    const updates = its.seen.values.filter(({ _tag }) => _tag !== 'OffsetCheckpoint');
    expect(offsets(updates)).toEqual([...upTo(501), 100_000]);
    expect(its.events.find(({ _tag }) => _tag === 'PositionMoved')).toMatchObject({
      from: { offset: 200_000 },
      to: { offset: 501 },
    });
  });

  it.each([1000, 1001, 1006, 1011])(
    'treats a close with %i as the end of the socket, not of the feed (G21)',
    (code) => {
      const socketFault = (_: unknown, count: number) =>
        count < 3 ? concat(of(socketOpen), after(1_500, socketEnd(code))) : undefined;
      const its = play({ socketFault }, { updates: 20 });
      expect(offsets(its.seen.values)).toEqual(upTo(520));
      expect(its.seen.completed).toBe(true);
      const reason = `the socket was closed with ${code}`;
      expect(closed(its)[0]).toMatchObject({ cause: { _tag: 'ConnectionError', reason } });
      expect(its.sockets.requests.length).toBeGreaterThanOrEqual(3);
    },
  );

  it('polls if the upgrade is refused, delays no update, and retries ever less often (G22)', () => {
    // the longest delays
    jest.spyOn(Math, 'random').mockReturnValue(1);
    const refused = () => throwError(() => new Error('Unexpected server response: 400'));
    const its = play({ socketFault: refused }, { forMs: 3_600_000, updates: 1_000 });
    expect(offsets(its.seen.values)).toEqual(upTo(1_500));
    expect(its.seen.times.slice(500).every((ms, i) => ms <= 1_000 * (i + 1) + 50)).toBe(true);
    expect(gaps(closed(its)).slice(0, 9)).toEqual([3, 4, 8, 16, 32, 64, 128, 256, 300]);
  });

  it('opens the next socket soon after one that has brought elements', () => {
    jest.spyOn(Math, 'random').mockReturnValue(1);
    const socketFault = ({ body }: SocketRequest, count: number) => {
      const last = Number(body['beginExclusive']) + 1;
      const elements = count === 3 ? [socketText(transaction(last)), socketText(checkpoint(last))] : [];
      return of(socketOpen, ...elements, socketEnd(1006));
    };
    expect(gaps(closed(play({ socketFault }, { updates: 30 }))).slice(0, 4)).toEqual([3, 4, 1, 2]);
  });

  it('waits ten seconds for a socket to open (G22)', () => {
    const its = play({ socketFault: () => NEVER }, { updates: 12 });
    expect(offsets(its.seen.values)).toEqual(upTo(512));
    expect(closed(its)[0]).toMatchObject({ at: 10_020 });
  });

  it.each([
    ['a socket without a sign of life', false, 30_020],
    ['one that answers pings, but brings not even a checkpoint', true, 100_020],
  ])('treats as lost %s (G22)', (_, pongs, closedAt) => {
    const socketFault = (_request: unknown, count: number) => (count === 1 ? silentSocket(pongs) : undefined);
    const its = play({ socketFault }, { forMs: 200_000, at: { 150_000: [501] } });
    expect(offsets(its.seen.values)).toEqual(upTo(501));
    expect(closed(its)[0]).toMatchObject({ at: closedAt });
  });

  it('switches to the other path at once if the ledger says so by the socket', () => {
    const disabled = of(socketOpen, socketText(errorBody('DEPRECATED_API_DISABLED', 9)), socketEnd(1000));
    const socketFault: WorldOptions['socketFault'] = ({ path }) => (path.endsWith('flats') ? disabled : undefined);
    const its = play({ socketFault }, { updates: 3 });
    expect(its.sockets.requests.map(({ path }) => path)).toEqual(['/v2/updates/flats', '/v2/updates']);
    expect(its.events.find(({ _tag }) => _tag === 'SocketOpened')?.at).toBeLessThan(100);
    expect(tags(its)).toContain('EndpointSwitched');
    expect(offsets(its.seen.values)).toEqual(upTo(503));
  });

  it('repeats a request over HTTP after an error of the ledger, which decides what it means', () => {
    const refusal = socketText({ ...errorBody('NA', -1), grpcCodeValue: 16 });
    const its = play({ socketFault: () => of(socketOpen, refusal, socketEnd(1000)) });
    expect(its.seen.error).toBeUndefined();
    expect(closed(its)[0]).toMatchObject({ cause: { _tag: 'ApiError', status: 401, code: 'NA' } });
    expect(polls(its)).toBeGreaterThan(0);
  });

  it('ends with an OrderError if offsets go backwards, and emits no wrong update', () => {
    const back = concat(
      of(socketOpen, socketText(transaction(500)), socketText(transaction(510)), socketText(transaction(505))),
      NEVER,
    );
    const its = play({ socketFault: () => back });
    expect(offsets(its.seen.values)).toEqual([...upTo(500), 510]);
    expect(its.seen.error).toMatchObject({ _tag: 'OrderError', offset: 505 });
    expect(its.sockets.open).toBe(0);
  });

  itInVirtualTime('counts sockets of many feeds that end at the same time as one failure', ({ flush }) => {
    const its = world({ latencyMs: 5 });
    fill(its.ledger, 1);
    const feeds = upTo(20).map(() => observe(its.feed({}, its.websocket).pipe(takeUntil(timer(60_000)))));
    timer(1_000).subscribe(() => {
      its.ledger.disconnect();
    });
    timer(20_000).subscribe(() => {
      expect(its.sockets.open).toBe(20);
    });
    flush();
    expect(feeds.every(({ completed }) => completed)).toBe(true);
  });

  it.each<[string, () => Observable<SocketSign>]>([
    ['is found half open by a check', () => concat(after(2, socketOpen), NEVER)],
    ['keeps back what there is', silent],
  ])('closes everything before the next request: a socket %s', (_, socketFault) => {
    const wrong: string[] = [];
    const its = play(
      (that) => ({
        socketFault,
        fault: () => {
          const { service, sockets } = that();
          const ended = closed(that()).length;
          if (ended > 0 && service.open > 1) wrong.push('two requests at a time');
          if (ended === sockets.requests.length && sockets.open > 0) wrong.push('a request beside a socket given up');
          return undefined;
        },
      }),
      { forMs: 60_000, at: { 35_000: [501] } },
    );
    expect(tags(its)).toContain('SocketClosed');
    expect(offsets(its.seen.values)).toEqual(upTo(501));
    expect(wrong).toEqual([]);
  });

  it.each<[string, (its: World) => Parameters<World['feed']>[1], readonly number[]]>([
    ['that of its ledger', () => ({}), [1, 0]],
    ['that of its ledger, if its own is undefined', () => ({ transport: undefined }), [1, 0]],
    ['none, if it says so', () => ({ transport: 'http' }), [0, 0]],
    ['its own', ({ websocket }) => websocket, [0, 1]],
  ])('uses the transport: %s', (_, options, opened) => {
    marbles(({ flush }) => {
      const ofLedger = scriptedSockets(silent);
      const its = world({ latencyMs: 5, client: { transport: socketTransport(ofLedger.port) } });
      fill(its.ledger, 1);
      observe(its.feed({}, options(its)).pipe(takeUntil(timer(1_000))));
      flush();
      expect([ofLedger, its.sockets].map(({ requests }) => requests.length)).toEqual(opened);
    });
  });

  it('continues once if it ends while the update that it brought waits for the proof of the ledger', () => {
    const pushed = [500, 507].map((offset) => socketText(transaction(offset)));
    const socketFault = (_: unknown, count: number) =>
      count === 1 ? after(20, socketOpen, ...pushed, socketEnd(1006)) : undefined;
    // a failure after which another participant may answer
    const fault: WorldOptions['fault'] = ({ path }, count) =>
      path.endsWith('/participant-id') && count < 10 ? unavailable : undefined;
    const emptyUpTo505 = ({ ledger }: World): void => {
      ledger.end = 505;
    };
    const its = play({ socketFault, fault }, { at: { 0: emptyUpTo505, 30: [507], 5_000: [508] } });
    expect(offsets(its.seen.values)).toEqual([...upTo(500), 507, 508]);
    expect(its.events.filter(({ _tag }) => _tag === 'PositionMoved')).toHaveLength(1);
  });

  it('refuses an unknown transport', () => {
    const { feed } = world();
    expect(() => feed({}, { transport: 'ws' as 'http' })).toThrow(TypeError);
    expect(() => world({ client: { transport: {} as Transport } })).toThrow(TypeError);
  });

  it('moves its cursor on checkpoints, so that the next socket begins there', () => {
    const elements = [transaction(500), checkpoint(500), checkpoint(700)].map(socketText);
    const signs = [socketOpen, ...elements, socketEnd(1006)];
    const its = play((that) => ({
      socketFault: (_, count) => {
        that().ledger.end = 700;
        return count === 1 ? of(...signs) : undefined;
      },
    }));
    const opened = its.events.flatMap((event) => (event._tag === 'SocketOpened' ? [event.beginExclusive] : []));
    expect(opened).toEqual([500, 700]);
    // the request itself begins with the last update
    expect(its.sockets.requests.at(-1)?.body).toMatchObject({ beginExclusive: 499 });
  });

  itInVirtualTime('polls up to an end, and requests pages in descending order', ({ flush }) => {
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

  it('polls until it has caught up with a service that does not serve its ledger end', () => {
    const its = play({ hasLedgerEnd: false }, { updates: 10 });
    expect(offsets(its.seen.values)).toEqual(upTo(510));
    expect(its.sockets.requests.length).toBeGreaterThan(0);
  });

  it('opens another socket even if the clock was set back', () => {
    const real = asyncScheduler.now.bind(asyncScheduler);
    const setBack = () => jest.spyOn(asyncScheduler, 'now').mockImplementation(() => real() - 3_600_000);
    const its = play({ socketFault: lostFirst }, { forMs: 20_000, at: { 100: setBack } });
    expect(its.sockets.requests).toHaveLength(2);
  });

  it('gets a token from the provider for each socket', () => {
    let n = 0;
    const its = play({ client: { token: () => `token-${(n += 1)}` }, socketFault: lostFirst }, { updates: 5 });
    const sent = its.sockets.requests.map(({ headers }) => headers['authorization']);
    expect(new Set(sent).size).toBe(sent.length);
    expect(sent[0]).toMatch(/^Bearer token-\d+$/);
  });
});

describe('the check over HTTP of a socket', () => {
  it('finds that it holds back updates, although it answers pings (G23)', () => {
    const its = play({ socketFault: silent }, { forMs: 600_000, updates: 500 });
    expect(offsets(its.seen.values)).toEqual(upTo(1_000));
    const waits = its.seen.times.slice(500).map((ms, i) => ms - 1_000 * (i + 1));
    expect(Math.max(...waits)).toBeLessThan(10_100);
    const cause = { _tag: 'ConnectionError', reason: 'the socket held back updates' };
    expect(closed(its)[0]).toMatchObject({ cause });
  });

  it('finds that one which brought elements holds back the rest, and then opens sockets less often (G23)', () => {
    const its = play(
      (that) => ({ socketFault: () => merge(of(socketOpen, socketText(checkpoint(that().ledger.end))), pong$) }),
      { forMs: 600_000, updates: 500 },
    );
    const seen = its.seen.values.map((update, i) => ({ update, at: its.seen.times[i] ?? Infinity }));
    const pushed = seen.filter(({ update }) => update._tag === 'Transaction').slice(500);
    expect(pushed.map(({ update }) => update.offset)).toEqual(upTo(1_000).slice(500));
    expect(Math.max(...pushed.map(({ update, at }) => at - 1_000 * (update.offset - 500)))).toBeLessThan(20_100);
    expect(its.sockets.requests.length).toBeLessThan(20);
  });

  it.each([
    ['none while it brings a checkpoint every 15 seconds', 15_000, 0],
    ['and few if nothing happens', 59_000, 20],
  ])('sends %s', (_, everyMs, checks) => {
    let before = 0;
    const its = play(
      (that) => ({
        socketFault: (request) => {
          const checkpoints$ = timer(500, everyMs).pipe(map(() => socketText(checkpoint(that().ledger.end))));
          return merge(that().ledger.streamText(request), checkpoints$, pong$);
        },
      }),
      { forMs: 600_000, at: { 1_000: ({ service }) => (before = service.requests.length) } },
    );
    expect(tags(its)).not.toContain('SocketClosed');
    expect(its.service.requests.length - before).toBe(checks);
  });

  it('skips no update if its answer is beyond the requested range', () => {
    const its = play(
      (that) => ({
        socketFault: (_, count) => (count === 1 ? silent() : undefined),
        fault: ({ body }) => {
          if (body['endInclusive'] !== 510 || that().ledger.end > 510) return undefined;
          fill(that().ledger, 515, 520);
          return ok([transaction(515), transaction(520)]);
        },
      }),
      { at: { 5_000: ({ ledger }) => (ledger.end = 510) } },
    );
    expect(offsets(its.seen.values)).toEqual([...upTo(500), 515, 520]);
  });

  it('reports a gap with the cursor of the socket', () => {
    const cursors: number[] = [];
    const its = play(
      {
        socketFault: (_, count) =>
          count === 1
            ? concat(of(socketOpen, socketText(transaction(500))), after(9, socketText(transaction(550))), pong$)
            : undefined,
      },
      {
        forMs: 60_000,
        onGap: ({ cursor }) => {
          cursors.push(cursor);
          return [600];
        },
        at: {
          15_000: ({ ledger }) => {
            fill(ledger, 550, 650);
            ledger.pruned = 600;
          },
        },
      },
    );
    expect(cursors).toEqual([550]);
    expect(offsets(its.seen.values)).toEqual([...upTo(500), 550, 650]);
  });

  it('keeps one without matching updates while the ledger moves, and comes less often once it has brought elements', () => {
    const moves = upTo(130).map((n) => [1_000 * n, ({ ledger }: World) => (ledger.end = 500 + n)] as const);
    const its = play(
      (that) => ({
        earlyCheckpointMs: 55_000,
        socketFault: (request) => merge(that().ledger.streamText(request), pong$),
      }),
      { forMs: 140_000, at: Object.fromEntries(moves) },
    );
    expect(tags(its)).not.toContain('SocketClosed');
    const checks = its.service.requests.filter(({ body }) => body['beginExclusive'] === 499);
    expect(checks.map(({ body }) => body['endInclusive'])).toEqual([510, 520, 530, 540, 550, 575, 595, 615, 630]);
  });

  it('ends the feed at a gap while the socket brings nothing', () => {
    const prune = ({ ledger }: World): void => {
      ledger.end = 700;
      ledger.pruned = 600;
    };
    const its = play({ socketFault: silent }, { at: { 5_000: prune } });
    expect(its.seen.error).toMatchObject({ _tag: 'PrunedError', earliestOffset: 600 });
    expect(its.seen.endedAt).toBeLessThan(10_100);
    expect(tags(its)).not.toContain('SocketClosed');
    expect(its.sockets.open).toBe(0);
  });

  it('is left out if the service does not serve its ledger end', () => {
    const its = play({ hasLedgerEnd: false, socketFault: silent }, { forMs: 90_000 });
    expect(its.events.find(({ _tag }) => _tag === 'SocketOpened')?.at).toBeLessThan(60_000);
    // at the start, and again when it may be available again
    expect(its.service.requests.filter(({ path }) => path.endsWith('ledger-end'))).toHaveLength(2);
  });

  it('keeps one that brings an update meanwhile, also if the check fails', () => {
    const isDown = (): boolean => asyncScheduler.now() >= 10_000 && asyncScheduler.now() < 15_000;
    const its = play(
      { fault: ({ path }) => (path.endsWith('ledger-end') && isDown() ? errorReply(503, '') : undefined) },
      { at: { 20_018: [501] } },
    );
    expect(tags(its)).not.toContain('SocketClosed');
    expect(offsets(its.seen.values)).toEqual(upTo(501));
  });
});
