import { concat, concatMap, from, map, NEVER, of, takeUntil, timer } from 'rxjs';
import type { Diagnostic } from '../../src/diagnostics/Diagnostic.js';
import type { SocketSign } from '../../src/ws/SocketPort.js';
import { observe } from '../helpers/observe.js';
import { socketOpen } from '../helpers/scripted.js';
import { marbles } from '../helpers/time.js';
import { fill, upTo, world, type WorldOptions } from '../helpers/world.js';

/** A world whose feed uses sockets. */
type SocketWorld = ReturnType<typeof socketWorld>;

function socketWorld(options: WorldOptions, forMs: number, onGap?: Run['onGap']) {
  const its = world({ latencyMs: 5, ...options });
  fill(its.ledger, ...upTo(500));
  const events: Diagnostic[] = [];
  its.client.diagnostics$.subscribe((event) => events.push(event));
  const seen = observe(its.feed({}, { ...its.websocket, onGap }).pipe(takeUntil(timer(forMs))));
  return { ...its, seen, events };
}

interface Run {
  readonly forMs?: number;
  readonly updates?: number;
  readonly at?: Readonly<Record<number, readonly number[] | ((its: SocketWorld) => unknown)>>;
  readonly onGap?: (gap: { readonly cursor: number }) => number[];
}

/**
 * Runs a feed of a ledger with 500 updates to its end, in virtual time.
 *
 * @param options - those of the world, which they may refer to
 * @param run - for how long, how many updates are appended, one a second, and after which milliseconds updates of
 * certain offsets are, or what else happens
 */
export const play = (
  options: WorldOptions | ((its: () => SocketWorld) => WorldOptions) = {},
  { forMs = 30_000, updates = 0, at = {}, onGap }: Run = {},
): SocketWorld =>
  marbles(({ flush }) => {
    const its: SocketWorld = socketWorld(typeof options === 'function' ? options(() => its) : options, forMs, onGap);
    for (const n of upTo(updates))
      timer(1_000 * n).subscribe(() => {
        fill(its.ledger, 500 + n);
      });
    for (const [ms, change] of Object.entries(at))
      timer(Number(ms)).subscribe(() => {
        if (typeof change === 'function') change(its);
        else fill(its.ledger, ...change);
      });
    flush();
    return its;
  });

/** The seconds between some times in milliseconds. */
export const gaps = (times: readonly { readonly at: number }[]): number[] => {
  const seconds = times.map(({ at }) => Math.round(at / 1_000));
  return seconds.slice(1).map((at, i) => at - (seconds[i] ?? 0));
};

export const tags = ({ events }: SocketWorld): string[] => events.map(({ _tag }) => _tag);
/** The causes of the ends of sockets, and when they ended. */
export const closed = ({ events }: SocketWorld) => events.filter((event) => event._tag === 'SocketClosed');
export const polls = ({ service }: SocketWorld): number =>
  service.requests.filter(({ query }) => 'stream_idle_timeout_ms' in query).length;
export const after = (ms: number, ...signs: readonly SocketSign[]) => timer(ms).pipe(concatMap(() => from(signs)));

export const pong$ = timer(12_000, 12_000).pipe(map((): SocketSign => ({ _tag: 'Alive' })));

/** An open socket that brings nothing. */
export const silentSocket = (pongs: boolean) => concat(of(socketOpen), pongs ? pong$ : NEVER);
