import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { asyncScheduler, filter, map, takeUntil, timer } from 'rxjs';
import { observe, offsets } from '../helpers/observe.js';
import { errorBody, errorReply } from '../helpers/wire.js';
import { fill, world } from '../helpers/world.js';
import { marbles } from '../helpers/time.js';
import type { Reply } from '../helpers/scripted.js';

afterEach(() => {
  jest.restoreAllMocks();
});

/** How long after an outage of 40 seconds two feeds of one ledger receive an update, in milliseconds. */
function delaysAfterOutage(failure: Reply): readonly (number | undefined)[] {
  let delays: readonly (number | undefined)[] = [];
  marbles(({ flush }) => {
    // the longest delays
    jest.spyOn(Math, 'random').mockReturnValue(0.999);
    const start = asyncScheduler.now();
    const outage = { begin: 1_000, end: 41_000 };
    const isDown = (): boolean => {
      const now = asyncScheduler.now() - start;
      return now >= outage.begin && now < outage.end;
    };
    const { ledger, feed } = world({ latencyMs: 5, fault: () => (isDown() ? failure : undefined) });
    fill(ledger, 1);
    const seen = [{ maxDelayMs: 30_000 }, { maxDelayMs: 500 }].map((retry) =>
      observe(feed({}, { retry }).pipe(takeUntil(timer(90_000)))),
    );
    timer(outage.end - 1_000).subscribe(() => {
      fill(ledger, 2);
    });
    flush();
    expect(seen.map(({ values }) => offsets(values))).toEqual([
      [1, 2],
      [1, 2],
    ]);
    delays = seen.map(({ times }) => times[1] && times[1] - outage.end);
  });
  return delays;
}

describe('after an outage', () => {
  it('all feeds of a ledger resume within seconds of the first success (G4)', () => {
    const [patient, eager] = delaysAfterOutage(new Error('the connection failed'));
    expect(eager).toBeLessThan(600);
    expect(patient).toBeLessThan(2_000);
  });

  it('a feed that the participant itself has refused waits for its whole delay', () => {
    const [patient, eager] = delaysAfterOutage(errorReply(503, errorBody('SERVICE_NOT_RUNNING', 1)));
    expect(eager).toBeLessThan(600);
    expect(patient).toBeGreaterThan(5_000);
  });

  it('a feed alone notices within 5 seconds that a participant which refused connections is back (G4)', () => {
    const refused = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
    marbles(({ flush }) => {
      jest.spyOn(Math, 'random').mockReturnValue(0.999);
      const { client, feed } = world({ fault: () => refused });
      const delays = observe(
        client.diagnostics$.pipe(
          filter((diagnostic) => diagnostic._tag === 'RetryScheduled'),
          map(({ delayMs }) => delayMs),
        ),
      );
      observe(feed().pipe(takeUntil(timer(120_000))));
      flush();
      expect(Math.max(...delays.values)).toBeLessThan(5_000);
      expect(delays.values.length).toBeGreaterThan(20);
    });
  });
});
