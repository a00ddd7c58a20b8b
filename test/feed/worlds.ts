import { concatMap, defer, type Observable, of, timer } from 'rxjs';
import type { Reply, ServiceRequest } from '../helpers/scripted.js';
import { world, type World } from '../helpers/world.js';

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
