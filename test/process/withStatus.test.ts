import { describe, expect, it } from '@jest/globals';
import { concat, concatMap, defer, finalize, NEVER, type Observable, of, take, throwError, timer } from 'rxjs';
import { Stopper } from '../../src/process/Stop.js';
import { withStatus } from '../../src/process/withStatus.js';
import { observe, type Observed } from '../helpers/observe.js';
import { marbles } from '../helpers/time.js';

/** Work of one value, and then its end; and how many runs of it there were, and are. */
function work(end$: Observable<never>) {
  const runs = { begun: 0, present: 0 };
  const run$ = defer(() => {
    runs.begun += 1;
    runs.present += 1;
    const { begun } = runs;
    return timer(10).pipe(
      concatMap(() => concat(of(begun), end$)),
      finalize(() => (runs.present -= 1)),
    );
  });
  const status = () => [{ role: 'leader' as const, state: 'running' as string }];
  return { runs, work: withStatus(run$, new Stopper(undefined), status) };
}

describe('a subscription when the status says that a run has ended', () => {
  it.each<[string, Observable<never>, number | undefined]>([
    ['completed', of(), undefined],
    ['failed', throwError(() => new Error('no')), undefined],
    ['was unsubscribed', NEVER, 1],
  ])('is a new run, if that %s', (_, end$, count = Infinity) => {
    marbles(({ flush }) => {
      const { runs, work: work$ } = work(end$);
      const states: string[] = [];
      const again: Observed<number>[] = [];
      const watching = work$.status$.subscribe(({ state }) => {
        if (state !== states.at(-1)) states.push(state);
        if (state === 'ended' && again.length < 2) again.push(observe(work$.pipe(take(count))));
      });
      const first = observe(work$.pipe(take(count)));
      timer(100).subscribe(() => {
        watching.unsubscribe();
      });
      flush();
      expect([first.values, ...again.map(({ values }) => values)]).toEqual([[1], [2], [3]]);
      expect(runs).toEqual({ begun: 3, present: 0 });
      expect(states).toEqual(['running', 'ended', 'running', 'ended', 'running', 'ended']);
    });
  });
});
