import { describe, expect, it, jest } from '@jest/globals';
import {
  asyncScheduler,
  concat,
  concatMap,
  from,
  map,
  merge,
  NEVER,
  of,
  takeUntil,
  throwError,
  timer,
  type Observable,
} from 'rxjs';
import type { Diagnostic } from '../../src/diagnostics/Diagnostic.js';
import type { Gap } from '../../src/feed/UpdatesOptions.js';
import type { SocketSign } from '../../src/http/SocketPort.js';
import { marbles } from '../helpers/marbles.js';
import { observe, offsets } from '../helpers/observe.js';
import { canton, failed, ok } from '../helpers/scripted.js';
import { end, open, text } from '../helpers/scriptedSockets.js';
import { checkpoint, transaction } from '../helpers/wire.js';
import { fill, upTo, world, type World, type WorldOptions } from '../helpers/world.js';

const websocket = { transport: 'websocket' } as const;

/** A world that is followed by sockets for a while, and that appends an update each second. */
function followed(options: WorldOptions, { forMs = 30_000, updates = 0 } = {}) {
  const its = world({ latencyMs: 5, ...options });
  fill(its.ledger, ...upTo(500));
  const events: Diagnostic[] = [];
  const listening = its.client.diagnostics$.subscribe((event) => events.push(event));
  const seen = observe(its.feed({}, websocket).pipe(takeUntil(timer(forMs))));
  for (const n of upTo(updates))
    timer(1_000 * n).subscribe(() => {
      fill(its.ledger, 500 + n);
    });
  return { ...its, seen, events, listening };
}

const tags = (events: readonly Diagnostic[]): string[] => events.map(({ _tag }) => _tag);
const polls = ({ service }: Pick<World, 'service'>): number =>
  service.asked.filter(({ query }) => 'stream_idle_timeout_ms' in query).length;
const after = (ms: number, ...signs: readonly SocketSign[]) => timer(ms).pipe(concatMap(() => from(signs)));

const pong$ = timer(12_000, 12_000).pipe(map((): SocketSign => ({ _tag: 'Alive' })));

/** An open socket that brings nothing. */
const deaf = (pongs: boolean) => concat(of(open), pongs ? pong$ : NEVER);

describe('a feed by WebSocket', () => {
  it('catches up by pages, and then has each update pushed, with no poll', () => {
    marbles(({ flush }) => {
      const its = followed({}, { updates: 5 });
      flush();
      expect(offsets(its.seen.values)).toEqual(upTo(505));
      expect(its.seen.times.slice(-5)).toEqual([1_000, 2_000, 3_000, 4_000, 5_000]);
      expect(polls(its)).toBe(0);
      expect(its.sockets.asked).toMatchObject([{ path: '/v2/updates/flats', body: { beginExclusive: 500 } }]);
      expect(its.sockets.asked[0]?.body).not.toHaveProperty('endInclusive');
      expect(tags(its.events).filter((tag) => tag !== 'PollSent' && tag !== 'PageReceived')).toEqual([
        'FeedStarted',
        'CaughtUp',
        'SocketOpened',
        'FeedEnded',
      ]);
    });
  });

  it('closes the socket at once when it is unsubscribed, and leaves no timer', () => {
    marbles(({ flush }) => {
      const its = followed({}, { forMs: 700 });
      flush();
      expect(its.sockets.asked).toHaveLength(1);
      expect(its.sockets.open).toBe(0);
      expect(asyncScheduler.now()).toBe(700);
    });
  });

  it('goes on from its cursor behind a lost socket, and reads by HTTP what came meanwhile', () => {
    marbles(({ flush }) => {
      const its = followed({});
      timer(2_500).subscribe(() => {
        its.ledger.cut();
        fill(its.ledger, 501, 502);
      });
      timer(10_000).subscribe(() => {
        fill(its.ledger, 503);
      });
      flush();
      expect(offsets(its.seen.values)).toEqual(upTo(503));
      expect(its.seen.times.slice(-3)).toEqual([2_510, 2_510, 10_000]);
      expect(its.sockets.asked.map(({ body }) => body['beginExclusive'])).toEqual([500, 502]);
    });
  });

  it.each([1000, 1001, 1006, 1011])('takes a close with %i for the end of the socket, not of the feed', (code) => {
    marbles(({ flush }) => {
      const its = followed(
        { socketFault: (_, count) => (count < 3 ? concat(of(open), after(1_500, end(code))) : undefined) },
        { updates: 20 },
      );
      flush();
      expect(offsets(its.seen.values)).toEqual(upTo(520));
      expect(its.seen.completed).toBe(true);
      const closed = its.events.flatMap((event) => (event._tag === 'SocketClosed' ? [event.cause] : []));
      expect(closed[0]).toMatchObject({ _tag: 'ConnectionError', reason: `the socket was closed with ${code}` });
      expect(its.sockets.asked.length).toBeGreaterThanOrEqual(3);
    });
  });

  it('polls where the upgrade is refused, delays no update, and tries again ever more seldom', () => {
    marbles(({ flush }) => {
      const refused = () => throwError(() => new Error('Unexpected server response: 400'));
      const its = followed({ socketFault: refused }, { forMs: 3_600_000, updates: 1_000 });
      flush();
      expect(offsets(its.seen.values)).toEqual(upTo(1_500));
      expect(its.seen.times.slice(500).every((ms, i) => ms <= 1_000 * (i + 1) + 50)).toBe(true);
      // once in five minutes at most, in the end; by chance more often in the beginning
      expect(its.sockets.asked.length).toBeGreaterThan(8);
      expect(its.sockets.asked.length).toBeLessThan(80);
    });
  });

  it('gives a socket that does not open ten seconds', () => {
    marbles(({ flush }) => {
      const its = followed({ socketFault: () => NEVER }, { updates: 12 });
      flush();
      expect(offsets(its.seen.values)).toEqual(upTo(512));
      expect(its.events.find(({ _tag }) => _tag === 'SocketClosed')).toMatchObject({ at: 10_015 });
    });
  });

  it('takes a socket without a sign of life for lost, and one that answers pings not', () => {
    const silentUntil = (pongs: boolean): number => {
      let closedAt = Infinity;
      marbles(({ flush }) => {
        const its = followed(
          { socketFault: (_, count) => (count === 1 ? deaf(pongs) : undefined) },
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
    // but one that brings not even a checkpoint is
    expect(silentUntil(true)).toBe(100_015);
  });

  it('finds out by HTTP that a socket keeps back what there is, however it answers pings', () => {
    marbles(({ flush }) => {
      const its = followed({ socketFault: () => deaf(true) }, { forMs: 600_000, updates: 500 });
      flush();
      expect(offsets(its.seen.values)).toEqual(upTo(1_000));
      const waits = its.seen.times.slice(500).map((ms, i) => ms - 1_000 * (i + 1));
      expect(Math.max(...waits)).toBeLessThan(10_100);
      expect(its.events.find(({ _tag }) => _tag === 'SocketClosed')).toMatchObject({
        cause: { _tag: 'ConnectionError', reason: 'the socket kept back what there is' },
      });
    });
  });

  it('finds out by HTTP that a socket which brought something keeps back the rest, and then uses sockets less', () => {
    marbles(({ flush }) => {
      const its: ReturnType<typeof followed> = followed(
        { socketFault: () => merge(of(open, text(checkpoint(its.ledger.end))), pong$) },
        { forMs: 600_000, updates: 500 },
      );
      flush();
      const seen = its.seen.values.map((update, i) => ({ update, at: its.seen.times[i] ?? Infinity }));
      const pushed = seen.filter(({ update }) => update._tag === 'Transaction').slice(500);
      expect(pushed.map(({ update }) => update.offset)).toEqual(upTo(1_000).slice(500));
      expect(Math.max(...pushed.map(({ update, at }) => at - 1_000 * (update.offset - 500)))).toBeLessThan(20_100);
      expect(its.sockets.asked.length).toBeLessThan(20);
    });
  });

  it('asks nothing by HTTP while a socket brings a checkpoint every 15 seconds, and little where nothing happens', () => {
    const looksBesideOneWithCheckpointsEach = (ms: number): number => {
      let looks = -1;
      marbles(({ flush }) => {
        const its: ReturnType<typeof followed> = followed(
          {
            socketFault: (asked) =>
              merge(its.ledger.push(asked), timer(500, ms).pipe(map(() => text(checkpoint(its.ledger.end)))), pong$),
          },
          { forMs: 600_000 },
        );
        timer(1_000).subscribe(() => {
          looks = -its.service.asked.length;
        });
        flush();
        expect(tags(its.events)).not.toContain('SocketClosed');
        looks += its.service.asked.length;
      });
      return looks;
    };
    expect(looksBesideOneWithCheckpointsEach(15_000)).toBe(0);
    expect(looksBesideOneWithCheckpointsEach(59_000)).toBe(20);
  });

  it('passes nothing over where what it is answered beside a socket lies beyond what it asked for', () => {
    marbles(({ flush }) => {
      const its: ReturnType<typeof followed> = followed({
        socketFault: (_, count) => (count === 1 ? deaf(true) : undefined),
        fault: ({ body }) => {
          if (body['endInclusive'] !== 510 || its.ledger.end > 510) return undefined;
          fill(its.ledger, 515, 520);
          return ok([transaction(515), transaction(520)]);
        },
      });
      timer(5_000).subscribe(() => {
        its.ledger.end = 510;
      });
      flush();
      expect(offsets(its.seen.values)).toEqual([...upTo(500), 515, 520]);
    });
  });

  it('tells a gap that is found beside a socket from where the socket has brought it', () => {
    marbles(({ flush }) => {
      const gaps: number[] = [];
      const its = world({
        latencyMs: 5,
        socketFault: (_, count) =>
          count === 1 ? concat(of(open), after(9, text(transaction(550))), pong$) : undefined,
      });
      fill(its.ledger, ...upTo(500));
      const onGap = ({ cursor }: Gap): number[] => {
        gaps.push(cursor);
        return [600];
      };
      const seen = observe(its.feed({}, { ...websocket, onGap }).pipe(takeUntil(timer(60_000))));
      timer(15_000).subscribe(() => {
        fill(its.ledger, 550, 650);
        its.ledger.pruned = 600;
      });
      flush();
      expect(gaps).toEqual([550]);
      expect(offsets(seen.values)).toEqual([...upTo(500), 550, 650]);
    });
  });

  it('keeps a socket that has nothing to bring, while the ledger goes on, and looks more seldom once it has brought something', () => {
    marbles(({ flush }) => {
      const its: ReturnType<typeof followed> = followed(
        { earlyCheckpointMs: 55_000, socketFault: (asked) => merge(its.ledger.push(asked), pong$) },
        { forMs: 140_000 },
      );
      for (const n of upTo(130))
        timer(1_000 * n).subscribe(() => {
          its.ledger.end = 500 + n;
        });
      flush();
      expect(tags(its.events)).not.toContain('SocketClosed');
      const looks = its.service.asked.filter(({ body }) => Number(body['beginExclusive']) >= 500);
      expect(looks.map(({ body }) => body['beginExclusive'])).toEqual([500, 510, 520, 530, 540, 555, 575, 595, 615]);
    });
  });

  it('ends at a gap that is found by HTTP while the socket brings nothing', () => {
    marbles(({ flush }) => {
      const its = followed({ socketFault: () => deaf(true) });
      timer(5_000).subscribe(() => {
        its.ledger.end = 700;
        its.ledger.pruned = 600;
      });
      flush();
      expect(its.seen.error).toMatchObject({ _tag: 'PrunedError', earliestOffset: 600 });
      expect(its.seen.endedAt).toBeLessThan(10_100);
      expect(tags(its.events)).not.toContain('SocketClosed');
      expect(its.sockets.open).toBe(0);
    });
  });

  it('asks a service that does not tell its end nothing beside a socket', () => {
    marbles(({ flush }) => {
      const its = followed({ hasLedgerEnd: false, socketFault: () => deaf(true) }, { forMs: 90_000 });
      flush();
      const openedAt = its.events.find(({ _tag }) => _tag === 'SocketOpened')?.at ?? Infinity;
      const ends = its.service.asked.filter(({ path }) => path.endsWith('ledger-end'));
      expect(openedAt).toBeLessThan(60_000);
      // once at first, and once more when it may have changed its mind
      expect(ends).toHaveLength(2);
    });
  });

  it('keeps a socket by which an update came while it was asked for by HTTP, and where that fails', () => {
    marbles(({ flush }) => {
      const its = followed({
        fault: ({ path }) => {
          if (!path.endsWith('ledger-end') || asyncScheduler.now() < 10_000) return undefined;
          return asyncScheduler.now() < 15_000 ? failed(503, '') : undefined;
        },
      });
      timer(20_018).subscribe(() => {
        fill(its.ledger, 501);
      });
      flush();
      expect(tags(its.events)).not.toContain('SocketClosed');
      expect(offsets(its.seen.values)).toEqual(upTo(501));
    });
  });

  it('asks at the other path where the ledger says so in the socket', () => {
    marbles(({ flush }) => {
      const disabled = () => of(open, text(canton('DEPRECATED_API_DISABLED', 9)), end(1000));
      const its = followed(
        { socketFault: ({ path }) => (path === '/v2/updates/flats' ? disabled() : undefined) },
        { updates: 3 },
      );
      flush();
      expect(its.sockets.asked.map(({ path }) => path)).toEqual(['/v2/updates/flats', '/v2/updates']);
      expect(tags(its.events)).toContain('EndpointSwitched');
      expect(offsets(its.seen.values)).toEqual(upTo(503));
    });
  });

  it('leaves an error of the ledger to HTTP, which decides what it means', () => {
    marbles(({ flush }) => {
      const its = followed({
        socketFault: () => of(open, text({ ...canton('NA', -1), grpcCodeValue: 16 }), end(1000)),
      });
      flush();
      expect(its.seen.error).toBeUndefined();
      expect(its.events.find(({ _tag }) => _tag === 'SocketClosed')).toMatchObject({
        cause: { _tag: 'ApiError', status: 401, code: 'NA' },
      });
      expect(polls(its)).toBeGreaterThan(0);
    });
  });

  it('drops what comes twice', () => {
    marbles(({ flush }) => {
      const twice = concat(of(open, text(transaction(500)), text(transaction(501)), text(transaction(501))), NEVER);
      const its = followed({ socketFault: () => twice }, { forMs: 1_000 });
      flush();
      expect(offsets(its.seen.values)).toEqual(upTo(501));
    });
  });

  it('ends with an OrderError where the service goes back, having emitted nothing wrong', () => {
    marbles(({ flush }) => {
      const back = concat(of(open, text(transaction(510)), text(transaction(505))), NEVER);
      const its = followed({ socketFault: () => back });
      flush();
      expect(offsets(its.seen.values)).toEqual([...upTo(500), 510]);
      expect(its.seen.error).toMatchObject({ _tag: 'OrderError', offset: 505 });
      expect(its.sockets.open).toBe(0);
    });
  });

  it('ends with a DecodeError behind the updates before, as by HTTP', () => {
    marbles(({ flush }) => {
      const broken = { update: { Transaction: { value: { offset: 502 } } } };
      const its = followed({ socketFault: () => concat(of(open, text(transaction(501)), text(broken)), NEVER) });
      flush();
      expect(offsets(its.seen.values)).toEqual(upTo(501));
      expect(its.seen.error).toMatchObject({ _tag: 'DecodeError', offset: 502 });
    });
  });

  it('takes a torn message for a lost socket, and quotes nothing of it', () => {
    marbles(({ flush }) => {
      const torn: SocketSign = { _tag: 'Text', text: '{"update":{"secret' };
      const its = followed({ socketFault: (_, count) => (count === 1 ? of(open, torn) : undefined) }, { updates: 3 });
      flush();
      expect(offsets(its.seen.values)).toEqual(upTo(503));
      expect(JSON.stringify(its.events)).not.toContain('secret');
    });
  });

  it('takes a port that completes without an end for a lost socket: the feed goes on', () => {
    marbles(({ flush }) => {
      const its = followed({ socketFault: (_, count) => (count < 3 ? of(open) : undefined) }, { updates: 20 });
      flush();
      expect(offsets(its.seen.values)).toEqual(upTo(520));
      expect(its.seen.completed).toBe(true);
      expect(its.seen.endedAt).toBe(30_000);
      expect(its.events.find(({ _tag }) => _tag === 'SocketClosed')).toMatchObject({
        cause: { _tag: 'ConnectionError', reason: 'the socket ended' },
      });
    });
  });

  it('takes what is neither an element nor an error of the ledger for a lost socket', () => {
    marbles(({ flush }) => {
      const gateway = of(open, text({ message: 'Forbidden' }));
      const its = followed({ socketFault: (_, count) => (count === 1 ? gateway : undefined) }, { updates: 3 });
      flush();
      expect(offsets(its.seen.values)).toEqual(upTo(503));
      expect(its.events.find(({ _tag }) => _tag === 'SocketClosed')).toMatchObject({
        cause: { reason: 'the message is no element' },
      });
    });
  });

  it('takes sockets of many feeds that end at a time for one failure', () => {
    marbles(({ flush }) => {
      const its = world({ latencyMs: 5 });
      fill(its.ledger, 1);
      const feeds = Array.from({ length: 20 }, () => observe(its.feed({}, websocket).pipe(takeUntil(timer(60_000)))));
      timer(1_000).subscribe(() => {
        its.ledger.cut();
      });
      timer(20_000).subscribe(() => {
        expect(its.sockets.open).toBe(20);
      });
      flush();
      expect(feeds.every(({ completed }) => completed)).toBe(true);
    });
  });

  it.each<[string, () => Observable<SocketSign>]>([
    ['is found half open while it is looked beside', () => concat(after(2, open), NEVER)],
    ['keeps back what there is', () => deaf(true)],
  ])('has hung up all there was before it asks anew: a socket %s', (_, socketFault) => {
    marbles(({ flush }) => {
      const wrong: string[] = [];
      const fault = (): undefined => {
        const ended = its.events.filter(({ _tag }) => _tag === 'SocketClosed').length;
        if (ended > 0 && its.service.open > 1) wrong.push('two requests at a time');
        if (ended === its.sockets.asked.length && its.sockets.open > 0)
          wrong.push('a request beside a socket that is given up');
      };
      const its: ReturnType<typeof followed> = followed({ socketFault, fault }, { forMs: 60_000 });
      timer(35_000).subscribe(() => {
        fill(its.ledger, 501);
      });
      flush();
      expect(tags(its.events)).toContain('SocketClosed');
      expect(offsets(its.seen.values)).toEqual(upTo(501));
      expect(wrong).toEqual([]);
    });
  });

  it('refuses a transport that it does not know', () => {
    const { feed } = world();
    expect(() => feed({}, { transport: 'ws' as 'http' })).toThrow(TypeError);
  });

  it('moves its cursor on checkpoints, so that the next socket begins there', () => {
    marbles(({ flush }) => {
      const its = followed({
        socketFault: (_, count) =>
          count === 1 ? of(open, text(checkpoint(500)), text(checkpoint(700)), end(1006)) : undefined,
      });
      its.ledger.end = 700;
      flush();
      expect(its.sockets.asked.at(-1)?.body).toMatchObject({ beginExclusive: 700 });
    });
  });

  it('polls up to an end, and downward asks for pages', () => {
    marbles(({ flush }) => {
      const its = world({ latencyMs: 5 });
      fill(its.ledger, ...upTo(10));
      const bounded = observe(its.feed({ endInclusive: 12 }, websocket));
      const down = observe(its.feed({ endInclusive: 10, descendingOrder: true }, websocket));
      timer(3_000).subscribe(() => {
        fill(its.ledger, 11, 12);
      });
      flush();
      expect(offsets(bounded.values)).toEqual(upTo(12));
      expect(bounded.completed && down.completed).toBe(true);
      expect(its.sockets.asked).toEqual([]);
    });
  });

  it('polls until it has caught up with a service that does not tell its end', () => {
    marbles(({ flush }) => {
      const its = followed({ hasLedgerEnd: false }, { updates: 10 });
      flush();
      expect(offsets(its.seen.values)).toEqual(upTo(510));
      expect(its.sockets.asked.length).toBeGreaterThan(0);
    });
  });

  it('opens another all the same where the clock is set back meanwhile', () => {
    marbles(({ flush }) => {
      const real = asyncScheduler.now.bind(asyncScheduler);
      const spy = jest.spyOn(asyncScheduler, 'now').mockImplementation(() => real() - (real() < 100 ? 0 : 3_600_000));
      const its = followed(
        { socketFault: (_, count) => (count === 1 ? of(open, end(1006)) : undefined) },
        { forMs: 20_000 },
      );
      flush();
      spy.mockRestore();
      expect(its.sockets.asked).toHaveLength(2);
    });
  });

  it('asks the provider for the token of each socket', () => {
    marbles(({ flush }) => {
      let n = 0;
      const token = (): string => `token-${(n += 1)}`;
      const its = followed(
        { client: { token }, socketFault: (_, count) => (count === 1 ? of(open, end(1006)) : undefined) },
        { updates: 5 },
      );
      flush();
      const sent = its.sockets.asked.map(({ headers }) => headers['authorization']);
      expect(new Set(sent).size).toBe(sent.length);
      expect(sent[0]).toMatch(/^Bearer token-\d+$/);
    });
  });
});
