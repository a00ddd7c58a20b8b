import { concat, concatMap, from, map, NEVER, of, takeUntil, timer } from 'rxjs';
import type { Diagnostic } from '../../src/diagnostics/Diagnostic.js';
import type { SocketSign } from '../../src/ws/SocketPort.js';
import { observe } from '../helpers/observe.js';
import { socketOpen } from '../helpers/scripted.js';
import { fill, upTo, world, type World, type WorldOptions } from '../helpers/world.js';

/** A world whose feed uses sockets, and whose ledger appends an update each second. */
export function socketWorld(options: WorldOptions, { forMs = 30_000, updates = 0 } = {}) {
  const its = world({ latencyMs: 5, ...options });
  fill(its.ledger, ...upTo(500));
  const events: Diagnostic[] = [];
  const subscription = its.client.diagnostics$.subscribe((event) => events.push(event));
  const seen = observe(its.feed({}, its.websocket).pipe(takeUntil(timer(forMs))));
  for (const n of upTo(updates))
    timer(1_000 * n).subscribe(() => {
      fill(its.ledger, 500 + n);
    });
  return { ...its, seen, events, subscription };
}

export const tags = (events: readonly Diagnostic[]): string[] => events.map(({ _tag }) => _tag);
export const polls = ({ service }: Pick<World, 'service'>): number =>
  service.requests.filter(({ query }) => 'stream_idle_timeout_ms' in query).length;
export const after = (ms: number, ...signs: readonly SocketSign[]) => timer(ms).pipe(concatMap(() => from(signs)));

export const pong$ = timer(12_000, 12_000).pipe(map((): SocketSign => ({ _tag: 'Alive' })));

/** An open socket that brings nothing. */
export const silentSocket = (pongs: boolean) => concat(of(socketOpen), pongs ? pong$ : NEVER);
