import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { firstValueFrom, NEVER, of, timeout } from 'rxjs';
import { dispatch } from '../../src/dispatch/dispatch.js';
import { Places } from '../../src/dispatch/Places.js';
import { ApiError, ConnectionError, type LedgerError } from '../../src/index.js';
import { cantonError } from '../../src/sandbox/index.js';

describe('dispatch', () => {
  const answer = (status: number, code: string): ApiError => {
    const canton = {
      ...cantonError(code),
      correlationId: '',
      traceId: '',
      grpcCodeValue: 9,
      retryInfo: '',
      definiteAnswer: false,
    };
    return new ApiError({ path: '/x', status, canton });
  };

  it.each<[string, LedgerError, number]>([
    ['overload', answer(503, 'PARTICIPANT_BACKPRESSURE'), 10_000],
    ['contention', answer(409, 'LOCAL_VERDICT_LOCKED_CONTRACTS'), 0],
    ['a lost response', new ConnectionError('/x', 'reset'), 0],
  ])('pauses while a submission is delayed because of overload alone: %s', (_, cause, pauseMs) => {
    const places = new Places(4);
    const unclear = {
      _tag: 'SubmissionUnclear' as const,
      submissionId: 's',
      attempts: 1,
      cause,
      delayMs: 10_000,
      at: 0,
    };
    const running = dispatch({
      places,
      due: { take: () => [], waitMs: () => Infinity, changed$: NEVER },
      stop: { stop$: NEVER, isStopped: () => false },
      work: () => NEVER,
      diagnostics$: of(unclear),
      count: () => [],
      report: () => undefined,
    }).subscribe();
    expect(Math.round(places.pauseMs / 1_000) * 1_000).toBe(pauseMs);
    running.unsubscribe();
  });

  afterEach(() => {
    jest.restoreAllMocks();
  });

  it.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'begins after a pause that ends before reading %i of the clock',
    async (reading) => {
      const startedAt = performance.now();
      const places = new Places(1);
      let readings = 0;
      jest.spyOn(performance, 'now').mockReturnValue(startedAt);
      places.pause(10);
      jest.spyOn(performance, 'now').mockImplementation(() => ((readings += 1) < reading ? startedAt : startedAt + 20));
      const done$ = dispatch({
        places,
        due: { take: () => ['work'], waitMs: () => 20, changed$: NEVER },
        stop: { stop$: NEVER, isStopped: () => false },
        work: (item) => of(item),
        diagnostics$: NEVER,
        count: () => [],
        report: () => undefined,
      });
      expect(await firstValueFrom(done$.pipe(timeout(5_000)))).toBe('work');
    },
  );
});
