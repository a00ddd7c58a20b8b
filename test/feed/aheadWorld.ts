import { concatMap, defer, of, timer, type Observable } from 'rxjs';
import { world, type World } from '../helpers/world.js';
import type { Asked, Reply } from '../helpers/scripted.js';

/** A world whose answers take as long as the test says, and that counts how many were open at a time. */
export interface AheadWorld extends World {
  readonly most: () => number;
}

export interface AheadOptions {
  readonly latencyOf: (n: number, asked: Asked) => number;
  readonly onAsk?: (asked: Asked) => void;
  readonly fault?: (asked: Asked, n: number) => Reply | undefined;
}

export function ahead({ latencyOf, onAsk, fault }: AheadOptions): AheadWorld {
  let most = 0;
  const given = world({
    fault: (asked, n): Observable<Reply> => {
      most = Math.max(most, given.service.open);
      onAsk?.(asked);
      const answer$ = defer(() => {
        const wrong = fault?.(asked, n);
        return wrong === undefined ? given.ledger.answer(asked) : of(wrong);
      });
      return timer(latencyOf(n, asked)).pipe(concatMap(() => answer$));
    },
  });
  return { ...given, most: () => most };
}

export const isBounded = ({ body }: Asked): boolean => 'endInclusive' in body;

/** The ranges that were asked for. */
export const rangesOf = (asked: readonly Asked[]): [number, number][] =>
  asked.filter(isBounded).map(({ body }) => [Number(body['beginExclusive']), Number(body['endInclusive'])]);

/** So many offsets, each so far behind the other. */
export const every = (step: number, count: number): number[] => Array.from({ length: count }, (_, i) => (i + 1) * step);
