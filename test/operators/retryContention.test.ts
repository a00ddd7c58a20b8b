import { describe, expect, it } from '@jest/globals';
import { defer, of, throwError } from 'rxjs';
import { ApiError, retryContention, SubmissionRejectedError } from '../../src/index.js';
import { observe } from '../helpers/observe.js';
import { marbles } from '../helpers/time.js';

const rejected = (code: string, errorCategory: number): SubmissionRejectedError =>
  new SubmissionRejectedError(
    new ApiError({ path: '/x', status: 409, canton: { code, cause: 'because', errorCategory, context: {} } }),
    { submissionId: 'try-1', userId: 'me', actAs: ['alice::1220'], sentAt: 0, attempts: 1 },
  );

const locked = rejected('LOCAL_VERDICT_LOCKED_CONTRACTS', 2);

describe('retryContention', () => {
  it.each([locked, rejected('LOCAL_VERDICT_INACTIVE_CONTRACTS', 11), rejected('CONTRACT_NOT_FOUND', 11)])(
    'subscribes again after contention, with what the source then reads: $code',
    (error) => {
      marbles(({ flush }) => {
        let state = 0;
        const seen = observe(
          defer(() => ((state += 1) < 3 ? throwError(() => error) : of(state))).pipe(retryContention()),
        );
        flush();
        expect(seen).toMatchObject({ values: [3], completed: true });
        expect(seen.endedAt).toBeLessThanOrEqual(300);
      });
    },
  );

  it.each([new Error('another'), rejected('DAML_FAILURE', 9), rejected('SEQUENCER_NOT_ENOUGH_TRAFFIC_CREDIT', 9)])(
    'passes any other error on at once: %s',
    (error) => {
      marbles(({ flush }) => {
        const seen = observe(throwError(() => error).pipe(retryContention()));
        flush();
        expect(seen).toMatchObject({ error, endedAt: 0 });
      });
    },
  );

  it('ends with the last refusal after the number of attempts', () => {
    marbles(({ flush }) => {
      let attempts = 0;
      const source$ = defer(() => {
        attempts += 1;
        return throwError(() => locked);
      });
      const seen = observe(source$.pipe(retryContention({ maxAttempts: 3 })));
      flush();
      expect([attempts, seen.error]).toEqual([3, locked]);
    });
  });

  it.each([{ maxAttempts: 0 }, { maxAttempts: 1.5 }, { baseDelayMs: 0 }])('refuses %o', (options) => {
    expect(() => retryContention(options)).toThrow(TypeError);
  });
});
