import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { asyncScheduler, concat, concatMap, defer, finalize, of, throwError, timer } from 'rxjs';
import type { DiagnosticBody } from '../../src/diagnostics/Diagnostic.js';
import { ApiError } from '../../src/errors/ApiError.js';
import { errorOf } from '../../src/errors/readAnswer.js';
import { LedgerResetError } from '../../src/errors/feed.js';
import { ConnectionError, RequestTimeoutError, TokenError } from '../../src/errors/request.js';
import { hurry, jitter, RetryBudget, retryPolicy, retryTransient } from '../../src/http/retry.js';
import { observe } from '../helpers/observe.js';
import { itInVirtualTime, marbles } from '../helpers/time.js';
import { errorBody } from '../helpers/wire.js';

afterEach(() => {
  jest.restoreAllMocks();
});

/** Sets the random number that every delay is made from. */
const random = (value: number) => jest.spyOn(Math, 'random').mockReturnValue(value);

describe('RetryBudget', () => {
  const policy = { baseDelayMs: 100, maxDelayMs: 1_000, giveUpAfterMs: 90_000 };
  const budget = new RetryBudget(policy);

  it('starts with the whole time and no failures', () => {
    expect([budget.leftMs, budget.spentMs, budget.failures]).toEqual([90_000, 0, 0]);
  });

  it('counts the time of attempts and of delays', () => {
    const spent = budget.spend(300).countFailure(50).spend(1_000).countFailure(150);
    expect([spent.leftMs, spent.spentMs, spent.failures]).toEqual([88_500, 1_500, 2]);
  });

  it('counts at most 60 seconds an attempt, and none for a clock that was set back', () => {
    expect(budget.spend(3_600_000).spentMs).toBe(60_000);
    expect(budget.spend(-3_600_000).spentMs).toBe(0);
    expect(budget.spend(60_000).spend(60_000).leftMs).toBe(-30_000);
  });

  it('counts an attempt in full where the limit is lifted', () => {
    expect(budget.spend(80_000, Infinity).leftMs).toBe(10_000);
    expect(budget.spend(-1, Infinity).spentMs).toBe(0);
  });

  it('doubles the longest delay with every failure, up to the limit of the policy', () => {
    random(1);
    const delays = [0, 1, 2, 3, 4, 5].map((failures) => {
      let failed = budget;
      for (let failure = 0; failure < failures; failure++) failed = failed.countFailure(0);
      return failed.nextDelayMs();
    });
    expect(delays).toEqual([100, 200, 400, 800, 1_000, 1_000]);
  });

  it('takes any delay from zero to the longest', () => {
    random(0);
    expect(budget.nextDelayMs()).toBe(0);
    random(0.25);
    expect(budget.countFailure(0).nextDelayMs()).toBe(50);
  });

  it('waits at least as long as the service asked for', () => {
    random(0.5);
    expect(budget.nextDelayMs(20)).toBe(50);
    expect(budget.nextDelayMs(70_000)).toBe(70_000);
    expect(budget.nextDelayMs(undefined)).toBe(50);
  });

  it('waits no longer than the time that is left', () => {
    random(1);
    const nearlySpent = budget.spend(60_000).spend(29_990);
    expect(nearlySpent.nextDelayMs()).toBe(10);
    expect(nearlySpent.nextDelayMs(5_000)).toBe(10);
    expect(nearlySpent.countFailure(10).leftMs).toBe(0);
  });

  it('has the whole time again after it is renewed', () => {
    const renewed = budget.spend(500).countFailure(100).renew();
    expect([renewed.leftMs, renewed.spentMs, renewed.failures]).toEqual([90_000, 0, 0]);
  });

  it('is immutable', () => {
    budget.spend(500);
    budget.countFailure(100);
    expect([budget.leftMs, budget.spentMs, budget.failures]).toEqual([90_000, 0, 0]);
  });

  it('has nothing left under a policy that never retries', () => {
    expect(new RetryBudget({ ...policy, giveUpAfterMs: 0 }).leftMs).toBe(0);
  });
});

describe('retryTransient', () => {
  const retry = { baseDelayMs: 1_000, maxDelayMs: 1_000, giveUpAfterMs: 10_000 };
  const failure = throwError(() => new ConnectionError('/x', 'the connection failed'));

  it('has the whole budget again after each value', () => {
    random(1);
    marbles(({ flush }) => {
      let attempts = 0;
      const reports: DiagnosticBody[] = [];
      const report = (make: () => DiagnosticBody): void => void reports.push(make());
      const source$ = defer(() => ((attempts += 1) % 8 === 0 ? concat(of(attempts), failure) : failure));
      const seen = observe(source$.pipe(retryTransient({ retry, report })));
      timer(60_000).subscribe(() => {
        seen.subscription.unsubscribe();
      });
      flush();
      expect(seen.error).toBeUndefined();
      expect(seen.values.slice(0, 3)).toEqual([8, 16, 24]);
      const spent = reports.map((one) => (one._tag === 'RetryScheduled' ? [one.failures, one.spentMs] : []));
      expect(spent.slice(5, 9)).toEqual([
        [6, 6_000],
        [7, 7_000],
        [1, 1_000],
        [2, 2_000],
      ]);
    });
  });

  itInVirtualTime('passes on the last failure with the number of retries and their time', ({ flush }) => {
    random(1);
    const seen = observe(failure.pipe(retryTransient({ retry, report: () => undefined })));
    flush();
    expect(seen.error).toMatchObject({ _tag: 'ConnectionError', retried: { times: 10, forMs: 10_000 } });
    expect(seen.endedAt).toBe(10_000);
  });

  itInVirtualTime('waits for a ledger that ends before the cursor as long as after another failure', ({ flush }) => {
    random(1);
    let attempts = 0;
    const reset = throwError(() => new LedgerResetError(7));
    const source$ = defer(() => ((attempts += 1) === 6 ? failure : reset));
    const patient = { ...retry, giveUpAfterMs: 60_000 };
    const seen = observe(source$.pipe(retryTransient({ retry: patient, report: () => undefined })));
    flush();
    expect(seen.error).toMatchObject({ _tag: 'LedgerResetError' });
    expect(seen.endedAt).toBe(60_000);
  });

  it.each([
    ['with a latency of 100 ms', 100, 0],
    ['with short delays and every 50th request failing', 1, 50],
  ])('passes on in time that a ledger ends before the cursor, %s', (_, latencyMs, everyNth) => {
    marbles(({ flush }) => {
      let attempts = 0;
      const source$ = defer(() => {
        attempts += 1;
        // the last one decides
        const isCut = attempts % everyNth === 0 && asyncScheduler.now() < 59_000;
        const error = isCut ? new ConnectionError('/v2/updates', 'cut') : new LedgerResetError(7);
        return timer(latencyMs).pipe(concatMap(() => throwError(() => error)));
      });
      const short = { baseDelayMs: 5, maxDelayMs: 5, giveUpAfterMs: 60_000 };
      const seen = observe(source$.pipe(retryTransient({ retry: short, report: () => undefined })));
      flush();
      expect(seen.error).toMatchObject({ _tag: 'LedgerResetError' });
      expect(seen.endedAt).toBeGreaterThanOrEqual(60_000);
      expect(seen.endedAt).toBeLessThan(61_000);
    });
  });

  it('waits 5 seconds at most after a refused connection', () => {
    random(1);
    marbles(({ flush }) => {
      const refused = throwError(() => new ConnectionError('/x', 'the connection failed', { code: 'ECONNREFUSED' }));
      const delays: number[] = [];
      const report = (make: () => DiagnosticBody): void => {
        const diagnostic = make();
        if (diagnostic._tag === 'RetryScheduled') delays.push(diagnostic.delayMs);
      };
      observe(refused.pipe(retryTransient({ retry: { ...retryPolicy(), giveUpAfterMs: 20_000 }, report })));
      flush();
      expect(delays).toEqual([250, 500, 1_000, 2_000, 4_000, 5_000, 5_000, 2_250]);
    });
  });

  it.each<[string, Error]>([
    ['a connection that fails', new ConnectionError('/x', 'the connection failed')],
    ['a timeout', new RequestTimeoutError('/x', 1)],
    ['a gateway without its participant', new ApiError({ path: '/x', status: 503 })],
  ])('ends a delay soon after another request has succeeded, once per outage: %s', (_, error) => {
    random(1);
    marbles(({ flush, hot }) => {
      const attempts: number[] = [];
      const source$ = defer(() => {
        attempts.push(asyncScheduler.now());
        return attempts.length === 3
          ? concat(
              of(1),
              throwError(() => error),
            )
          : throwError(() => error);
      });
      const success$ = hot('2s a 1999ms a 65999ms a');
      const seen = observe(
        source$.pipe(
          retryTransient({
            retry: { baseDelayMs: 60_000, maxDelayMs: 60_000, giveUpAfterMs: 90_000 },
            report: () => undefined,
            success$,
          }),
        ),
      );
      flush();
      // the second success has no effect; the third one has, after a value
      expect(attempts).toEqual([0, 3_000, 63_000, 71_000, 131_000, 153_000]);
      expect(seen.error).toMatchObject({ retried: { times: 3, forMs: 90_000 } });
    });
  });

  it.each<[string, Error]>([
    [
      'an error of the participant',
      errorOf({ path: '/x', status: 503, text: JSON.stringify(errorBody('SERVICE_NOT_RUNNING', 1)) }),
    ],
    ['a failure with status 500, which shows that it can be reached', new ApiError({ path: '/x', status: 500 })],
    ['a gateway that says when', new ApiError({ path: '/x', status: 503, retryAfterMs: 500 })],
    ['a cursor beyond the ledger end', new LedgerResetError(7)],
  ])('waits for the whole delay, whatever succeeds: %s', (_, error) => {
    random(1);
    marbles(({ flush, hot }) => {
      const attempts: number[] = [];
      const source$ = defer(() => {
        attempts.push(asyncScheduler.now());
        return throwError(() => error);
      });
      const settings = {
        retry: { baseDelayMs: 5_000, maxDelayMs: 5_000, giveUpAfterMs: 5_000 },
        report: () => undefined,
        success$: hot('100ms a'),
      };
      observe(source$.pipe(retryTransient(settings)));
      flush();
      expect(attempts).toEqual([0, 5_000]);
    });
  });

  it.each<[string, Error]>([
    [
      'an error of the participant',
      errorOf({ path: '/x', status: 503, text: JSON.stringify(errorBody('SERVICE_NOT_RUNNING', 1)) }),
    ],
    ['no token', new TokenError('the provider failed')],
    ['no connection', new ConnectionError('/x', 'the connection failed')],
  ])('ends a delay soon when it is told to, each time, and begins the back-off again: %s', (_, error) => {
    random(1);
    marbles(({ flush, hot }) => {
      const attempts: number[] = [];
      const source$ = defer(() => {
        attempts.push(asyncScheduler.now());
        return throwError(() => error);
      });
      const settings = {
        retry: { baseDelayMs: 1_000, maxDelayMs: 60_000, giveUpAfterMs: 20_000 },
        report: () => undefined,
        success$: hot('9s a 6s a', { a: hurry }),
      };
      const seen = observe(source$.pipe(retryTransient(settings)));
      flush();
      // 1, 2, 4 and 8 seconds without it
      expect(attempts).toEqual([0, 1_000, 3_000, 7_000, 10_000, 11_000, 13_000, 16_001, 17_001, 19_001, 20_000]);
      expect(seen.error).toMatchObject({ retried: { forMs: 20_000 } });
    });
  });

  it('waits as long as the participant has requested, also when it is told to hurry', () => {
    marbles(({ flush, hot }) => {
      let attempts = 0;
      const error = new ApiError({ path: '/x', status: 503, retryAfterMs: 4_000 });
      const failing$ = defer(() => {
        attempts += 1;
        return throwError(() => error);
      });
      const settings = {
        retry: { baseDelayMs: 100, maxDelayMs: 100, giveUpAfterMs: 4_000 },
        report: () => undefined,
        success$: hot('100ms a', { a: hurry }),
      };
      const seen = observe(failing$.pipe(retryTransient(settings)));
      flush();
      expect([attempts, seen.endedAt]).toEqual([2, 4_000]);
    });
  });

  it('gives up in time if the clock was set back while a delay ends early', () => {
    random(0.9);
    marbles(({ hot, flush }) => {
      const realNow = asyncScheduler.now.bind(asyncScheduler);
      const startedAt = realNow();
      let backMs = 0;
      jest.spyOn(asyncScheduler, 'now').mockImplementation(() => realNow() - backMs);
      timer(15_000).subscribe(() => {
        backMs = 3_600_000;
      });
      const settings = {
        retry: { baseDelayMs: 1_000, maxDelayMs: 30_000, giveUpAfterMs: 60_000 },
        report: () => undefined,
        success$: hot('16s a'),
      };
      const failing$ = throwError(() => new ConnectionError('/x', 'the connection failed'));
      let endedAt = Infinity;
      failing$
        .pipe(
          retryTransient(settings),
          finalize(() => {
            endedAt = realNow() - startedAt;
          }),
        )
        .subscribe({ error: () => undefined });
      flush();
      expect(endedAt).toBeLessThan(90_000);
    });
  });

  it('passes on failures that it must not retry', () => {
    const seen = observe(failure.pipe(retryTransient({ retry, report: () => undefined }, () => false)));
    expect(seen.error).toMatchObject({ _tag: 'ConnectionError' });
    expect(seen.error).not.toHaveProperty('retried');
  });
});

describe('jitter', () => {
  it('stays within the limit after any number of failures', () => {
    random(1);
    expect(jitter(5_000, { baseDelayMs: 250, maxDelayMs: 30_000 })).toBe(30_000);
  });
});

describe('retryPolicy', () => {
  it('has defaults', () => {
    expect(retryPolicy()).toEqual({ baseDelayMs: 250, maxDelayMs: 30_000, giveUpAfterMs: 300_000 });
  });

  it("prefers the feed's policy to the ledger's", () => {
    expect(retryPolicy({ baseDelayMs: 1, maxDelayMs: 2 }, { maxDelayMs: 3, giveUpAfterMs: 0 })).toEqual({
      baseDelayMs: 1,
      maxDelayMs: 3,
      giveUpAfterMs: 0,
    });
  });

  it('rejects values that are not times', () => {
    for (const policy of [{ baseDelayMs: 0 }, { maxDelayMs: -1 }, { giveUpAfterMs: -1 }, { giveUpAfterMs: NaN }])
      expect(() => retryPolicy(policy)).toThrow(TypeError);
  });
});
