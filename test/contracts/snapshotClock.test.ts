import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { asyncScheduler, map, timer } from 'rxjs';
import type { Diagnostic } from '../../src/diagnostics/Diagnostic.js';
import { errorReply } from '../helpers/wire.js';
import { failAt, ids, idsOf, read, type Scenario } from './snapshotScenario.js';

afterEach(() => {
  jest.restoreAllMocks();
});

const hour = 3_600_000;

/** Sets the clock by so many milliseconds while a snapshot is read. */
const setClock =
  (by: number): NonNullable<Scenario['given']> =>
  () => {
    const real = asyncScheduler.now.bind(asyncScheduler);
    jest.spyOn(asyncScheduler, 'now').mockImplementation(() => real() + (real() >= 1_500 ? by : 0));
  };

const durationsOf = (diagnostics: readonly Diagnostic[]): number[] =>
  diagnostics.flatMap((diagnostic) => ('durationMs' in diagnostic ? [diagnostic.durationMs] : []));

describe.each([-hour, hour])('a snapshot while the clock is set by %d ms', (by) => {
  it('has the durations that it took', () => {
    const { observed, diagnostics } = read({
      ...{ count: 30, latencyMs: 1_000, given: setClock(by) },
      options: { maxSnapshotPageSize: 10 },
    });
    expect(idsOf(observed.values)).toEqual(ids(30));
    expect(durationsOf(diagnostics)).toEqual([1_000, 1_000, 1_000, 3_000]);
  });

  it('has pages of the same size after a failure that came at once', () => {
    const refusal = timer(600).pipe(map(() => errorReply(503, 'no upstream')));
    const { observed, requests } = read({
      ...{ count: 30, latencyMs: 1_000, given: setClock(by) },
      options: { maxSnapshotPageSize: 10 },
      fault: failAt((_, count) => (count === 1 ? refusal : undefined)),
    });
    expect(idsOf(observed.values)).toEqual(ids(30));
    expect(requests.map(({ body }) => body['maxPageSize'])).toEqual([10, 10, 10, 10]);
  });
});
