import { concat, concatMap, defer, from, map, NEVER, type Observable, of, takeUntil, timer } from 'rxjs';
import type { Diagnostic } from '../../src/diagnostics/Diagnostic.js';
import type { SocketSign } from '../../src/http/SocketPort.js';
import { observe } from '../helpers/observe.js';
import { type Reply, type ServiceRequest, socketOpen } from '../helpers/scripted.js';
import { fill, upTo, world, type World, type WorldOptions } from '../helpers/world.js';

/** A world whose answers have a latency by request, and that counts the requests in flight. */
export interface ParallelWorld extends World {
  readonly mostOpen: () => number;
}

export interface ParallelWorldOptions {
  readonly latencyOf: (n: number, request: ServiceRequest) => number;
  readonly onRequest?: (request: ServiceRequest) => void;
  readonly fault?: (request: ServiceRequest, n: number) => Reply | undefined;
}

export function parallelWorld({ latencyOf, onRequest, fault }: ParallelWorldOptions): ParallelWorld {
  let most = 0;
  const given = world({
    fault: (request, n): Observable<Reply> => {
      most = Math.max(most, given.service.open);
      onRequest?.(request);
      const answer$ = defer(() => {
        const wrong = fault?.(request, n);
        return wrong === undefined ? given.ledger.reply(request) : of(wrong);
      });
      return timer(latencyOf(n, request)).pipe(concatMap(() => answer$));
    },
  });
  return { ...given, mostOpen: () => most };
}

export const isBounded = ({ body }: ServiceRequest): boolean => 'endInclusive' in body;

/** The requested ranges. */
export const rangesOf = (requests: readonly ServiceRequest[]): [number, number][] =>
  requests.filter(isBounded).map(({ body }) => [Number(body['beginExclusive']), Number(body['endInclusive'])]);

/** So many offsets with a fixed distance. */
export const every = (step: number, count: number): number[] => Array.from({ length: count }, (_, i) => (i + 1) * step);

export const websocket = { transport: 'websocket' } as const;

/** A world whose feed uses sockets, and whose ledger appends an update each second. */
export function socketWorld(options: WorldOptions, { forMs = 30_000, updates = 0 } = {}) {
  const its = world({ latencyMs: 5, ...options });
  fill(its.ledger, ...upTo(500));
  const events: Diagnostic[] = [];
  const subscription = its.client.diagnostics$.subscribe((event) => events.push(event));
  const seen = observe(its.feed({}, websocket).pipe(takeUntil(timer(forMs))));
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
