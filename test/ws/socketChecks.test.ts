import { describe, expect, it } from '@jest/globals';
import { asyncScheduler, concat, map, merge, of, takeUntil, timer } from 'rxjs';
import type { Gap } from '../../src/feed/LedgerFeed.js';
import { observe, offsets } from '../helpers/observe.js';
import { checkpoint, transaction, errorReply, ok } from '../helpers/wire.js';
import { fill, upTo, world } from '../helpers/world.js';
import { marbles } from '../helpers/time.js';
import { socketOpen, socketText } from '../helpers/scripted.js';
import { socketWorld, tags, after, silentSocket, pong$ } from './worlds.js';

describe('a feed by WebSocket', () => {
  it('finds over HTTP that a socket holds back updates, although it answers pings (G23)', () => {
    marbles(({ flush }) => {
      const its = socketWorld({ socketFault: () => silentSocket(true) }, { forMs: 600_000, updates: 500 });
      flush();
      expect(offsets(its.seen.values)).toEqual(upTo(1_000));
      const waits = its.seen.times.slice(500).map((ms, i) => ms - 1_000 * (i + 1));
      expect(Math.max(...waits)).toBeLessThan(10_100);
      expect(its.events.find(({ _tag }) => _tag === 'SocketClosed')).toMatchObject({
        cause: { _tag: 'ConnectionError', reason: 'the socket held back updates' },
      });
    });
  });

  it('finds over HTTP that a socket which brought elements holds back the rest, and then opens sockets less often (G23)', () => {
    marbles(({ flush }) => {
      const its: ReturnType<typeof socketWorld> = socketWorld(
        { socketFault: () => merge(of(socketOpen, socketText(checkpoint(its.ledger.end))), pong$) },
        { forMs: 600_000, updates: 500 },
      );
      flush();
      const seen = its.seen.values.map((update, i) => ({ update, at: its.seen.times[i] ?? Infinity }));
      const pushed = seen.filter(({ update }) => update._tag === 'Transaction').slice(500);
      expect(pushed.map(({ update }) => update.offset)).toEqual(upTo(1_000).slice(500));
      expect(Math.max(...pushed.map(({ update, at }) => at - 1_000 * (update.offset - 500)))).toBeLessThan(20_100);
      expect(its.sockets.requests.length).toBeLessThan(20);
    });
  });

  it('does not check over HTTP while a socket brings a checkpoint every 15 seconds, and seldom if nothing happens', () => {
    const checksWithCheckpointsEvery = (ms: number): number => {
      let checks = -1;
      marbles(({ flush }) => {
        const its: ReturnType<typeof socketWorld> = socketWorld(
          {
            socketFault: (request) =>
              merge(
                its.ledger.streamText(request),
                timer(500, ms).pipe(map(() => socketText(checkpoint(its.ledger.end)))),
                pong$,
              ),
          },
          { forMs: 600_000 },
        );
        timer(1_000).subscribe(() => {
          checks = -its.service.requests.length;
        });
        flush();
        expect(tags(its.events)).not.toContain('SocketClosed');
        checks += its.service.requests.length;
      });
      return checks;
    };
    expect(checksWithCheckpointsEvery(15_000)).toBe(0);
    expect(checksWithCheckpointsEvery(59_000)).toBe(20);
  });

  it('skips no update if the answer to a check is beyond the requested range', () => {
    marbles(({ flush }) => {
      const its: ReturnType<typeof socketWorld> = socketWorld({
        socketFault: (_, count) => (count === 1 ? silentSocket(true) : undefined),
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

  it('reports a gap that a check finds with the cursor of the socket', () => {
    marbles(({ flush }) => {
      const gaps: number[] = [];
      const its = world({
        latencyMs: 5,
        socketFault: (_, count) =>
          count === 1 ? concat(of(socketOpen), after(9, socketText(transaction(550))), pong$) : undefined,
      });
      fill(its.ledger, ...upTo(500));
      const onGap = ({ cursor }: Gap): number[] => {
        gaps.push(cursor);
        return [600];
      };
      const seen = observe(its.feed({}, { ...its.websocket, onGap }).pipe(takeUntil(timer(60_000))));
      timer(15_000).subscribe(() => {
        fill(its.ledger, 550, 650);
        its.ledger.pruned = 600;
      });
      flush();
      expect(gaps).toEqual([550]);
      expect(offsets(seen.values)).toEqual([...upTo(500), 550, 650]);
    });
  });

  it('keeps a socket without matching updates while the ledger moves, and checks less often once it has brought elements', () => {
    marbles(({ flush }) => {
      const its: ReturnType<typeof socketWorld> = socketWorld(
        { earlyCheckpointMs: 55_000, socketFault: (request) => merge(its.ledger.streamText(request), pong$) },
        { forMs: 140_000 },
      );
      for (const n of upTo(130))
        timer(1_000 * n).subscribe(() => {
          its.ledger.end = 500 + n;
        });
      flush();
      expect(tags(its.events)).not.toContain('SocketClosed');
      const checks = its.service.requests.filter(({ body }) => Number(body['beginExclusive']) >= 500);
      expect(checks.map(({ body }) => body['beginExclusive'])).toEqual([500, 510, 520, 530, 540, 555, 575, 595, 615]);
    });
  });

  it('ends at a gap that a check finds while the socket brings nothing', () => {
    marbles(({ flush }) => {
      const its = socketWorld({ socketFault: () => silentSocket(true) });
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

  it('does not check over HTTP if the service does not serve its ledger end', () => {
    marbles(({ flush }) => {
      const its = socketWorld({ hasLedgerEnd: false, socketFault: () => silentSocket(true) }, { forMs: 90_000 });
      flush();
      const openedAt = its.events.find(({ _tag }) => _tag === 'SocketOpened')?.at ?? Infinity;
      const ends = its.service.requests.filter(({ path }) => path.endsWith('ledger-end'));
      expect(openedAt).toBeLessThan(60_000);
      // at the start, and again when it may be available again
      expect(ends).toHaveLength(2);
    });
  });

  it('keeps a socket that brings an update during a check, or whose check fails', () => {
    marbles(({ flush }) => {
      const its = socketWorld({
        fault: ({ path }) => {
          if (!path.endsWith('ledger-end') || asyncScheduler.now() < 10_000) return undefined;
          return asyncScheduler.now() < 15_000 ? errorReply(503, '') : undefined;
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
});
