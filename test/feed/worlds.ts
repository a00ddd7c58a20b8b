import { concatMap, defer, type Observable, of, takeUntil, timer } from 'rxjs';
import type { Update } from '../../src/codecs/Update.js';
import type { Diagnostic } from '../../src/diagnostics/Diagnostic.js';
import { observe, type Observed } from '../helpers/observe.js';
import type { Reply, ServiceRequest } from '../helpers/scripted.js';
import { marbles } from '../helpers/time.js';
import { fill, world, type World, type WorldOptions } from '../helpers/world.js';

/** A feed that has run in virtual time. */
interface Played extends World {
  readonly seen: Observed<Update>;
}

/** How a feed runs. */
interface Run {
  /** The updates of the ledger before the feed. */
  readonly updates?: readonly number[];
  readonly request?: Parameters<World['feed']>[0];
  readonly options?: Parameters<World['feed']>[1];
  /** When it is unsubscribed from. Default: when it ends. */
  readonly forMs?: number;
  /** Gets what the client reports. */
  readonly diagnostics?: Diagnostic[];
  /** What happens after which milliseconds. Before the feed at 0. */
  readonly at?: Readonly<Record<number, (its: World) => void>>;
}

/** Runs a feed over a world in virtual time. The options of the world can refer to it. */
export const play = (
  options: WorldOptions | ((its: () => World) => WorldOptions),
  { updates = [], request, options: feedOptions, forMs, diagnostics, at = {} }: Run = {},
): Played =>
  marbles(({ flush }) => {
    const its: World = world({ latencyMs: 5, ...(typeof options === 'function' ? options(() => its) : options) });
    if (diagnostics) its.client.diagnostics$.subscribe((diagnostic) => diagnostics.push(diagnostic));
    fill(its.ledger, ...updates);
    at[0]?.(its);
    const feed$ = its.feed(request, feedOptions);
    const seen = observe(forMs === undefined ? feed$ : feed$.pipe(takeUntil(timer(forMs))));
    for (const [ms, change] of Object.entries(at))
      if (ms !== '0')
        timer(Number(ms)).subscribe(() => {
          change(its);
        });
    flush();
    return { ...its, seen };
  });

/** Appends updates. */
export const append =
  (...offsets: readonly number[]) =>
  ({ ledger }: World): void => {
    fill(ledger, ...offsets);
  };

export const isPage = ({ path }: ServiceRequest): boolean => /\/v2\/updates(\/flats)?$/.test(path);
export const isEnd = ({ path }: ServiceRequest): boolean => path.endsWith('ledger-end');
/** The idle timeouts of the polls. */
export const waitsOf = ({ service }: World): number[] =>
  service.requests.flatMap(({ query }) => query['stream_idle_timeout_ms'] ?? []).map(Number);

/** How the answers of a world arrive. */
interface Answers {
  readonly latencyOf: (n: number, request: ServiceRequest) => number;
  readonly onRequest?: (request: ServiceRequest, its: World) => void;
  readonly fault?: (request: ServiceRequest, its: World) => Reply | undefined;
}

/** Runs a feed whose answers have a latency by request, and counts the requests in flight. */
export function playRanges({ latencyOf, onRequest, fault }: Answers, run: Run): Played & { readonly mostOpen: number } {
  let mostOpen = 0;
  const played = play(
    (its) => ({
      latencyMs: 0,
      fault: (request, n): Observable<Reply> => {
        mostOpen = Math.max(mostOpen, its().service.open);
        onRequest?.(request, its());
        const answer$ = defer(() => {
          const wrong = fault?.(request, its());
          return wrong === undefined ? its().ledger.reply(request) : of(wrong);
        });
        return timer(latencyOf(n, request)).pipe(concatMap(() => answer$));
      },
    }),
    run,
  );
  return { ...played, mostOpen };
}

export const isBounded = ({ body }: ServiceRequest): boolean => 'endInclusive' in body;

/** The requested ranges. */
export const rangesOf = (requests: readonly ServiceRequest[]): [number, number][] =>
  requests.filter(isBounded).map(({ body }) => [Number(body['beginExclusive']), Number(body['endInclusive'])]);

/** So many offsets with a fixed distance. */
export const every = (step: number, count: number): number[] => Array.from({ length: count }, (_, i) => (i + 1) * step);
