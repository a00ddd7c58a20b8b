import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { asyncScheduler, NEVER, takeUntil, timer } from 'rxjs';
import { observe } from '../helpers/observe.js';
import type { ServiceRequest } from '../helpers/scripted.js';
import { fill, upTo, world, type WorldOptions } from '../helpers/world.js';
import { checkpoint, errorBody, errorReply, notFound, ok, transaction } from '../helpers/wire.js';
import { marbles } from '../helpers/time.js';

const isPoll = ({ body }: ServiceRequest): boolean => 'beginExclusive' in body && !('endInclusive' in body);
const minute = 60_000;

/** When requests were sent within ten minutes, by feeds of one ledger. */
function requestTimes(options: WorldOptions, feeds = 1): number[] {
  const times: number[] = [];
  marbles(({ flush }) => {
    const start = asyncScheduler.now();
    const { ledger, feed, service } = world({
      ...options,
      fault: (request, n) => {
        times.push(asyncScheduler.now() - start);
        return options.fault?.(request, n);
      },
    });
    fill(ledger, ...upTo(5));
    for (let i = 0; i < feeds; i += 1) observe(feed().pipe(takeUntil(timer(10 * minute))));
    flush();
    expect(service.open).toBe(0);
  });
  return times;
}

/** The most requests within any span of so many milliseconds. */
const mostWithin = (times: readonly number[], span: number): number =>
  Math.max(0, ...times.map((from) => times.filter((at) => at >= from && at < from + span).length));

const later = (times: readonly number[], after: number): number[] => times.filter((at) => at >= after);

describe('a feed in a lasting state', () => {
  // several random delays in a row may be short
  beforeEach(() => {
    jest.spyOn(Math, 'random').mockReturnValue(0.5);
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it.each<[string, WorldOptions, number]>([
    ['nothing happens on a 3.4', {}, 2],
    ['nothing happens on a 3.5, which sends checkpoints', { earlyCheckpointMs: 500 }, 2],
    [
      'nothing happens, and every other poll gets a checkpoint at once',
      { fault: (request, n) => (isPoll(request) && n % 2 === 0 ? ok([transaction(5), checkpoint(5)]) : undefined) },
      // with the ledger end, twice a minute
      3,
    ],
    [
      'polls are answered at once, with nothing and with a checkpoint',
      {
        fault: (request, n) =>
          isPoll(request) ? ok(n % 2 === 0 ? [transaction(5), checkpoint(5)] : [transaction(5)]) : undefined,
      },
      3,
    ],
    ['nothing happens, and the ledger end is unavailable', { hasLedgerEnd: false }, 2],
    [
      'polls are answered at once with nothing',
      { fault: (request) => (isPoll(request) ? ok([transaction(5)]) : undefined) },
      2,
    ],
    [
      'polls are answered at once with a checkpoint',
      { fault: (request) => (isPoll(request) ? ok([transaction(5), checkpoint(5)]) : undefined) },
      2,
    ],
    ['the service refuses connections', { fault: () => new Error('ECONNREFUSED') }, 2],
    ['the service pushes back', { fault: () => errorReply(409, errorBody('PARTICIPANT_BACKPRESSURE', 2)) }, 2],
    [
      'polls are cut by a proxy at once',
      { fault: (request) => (isPoll(request) ? errorReply(504, '') : undefined) },
      2,
    ],
    [
      'the ledger end lags for a moment, again and again',
      {
        fault: ({ path }, n) => (path.endsWith('/ledger-end') && n > 1 && n % 2 === 0 ? ok({ offset: 4 }) : undefined),
      },
      3,
    ],
    ['no request is answered', { fault: () => NEVER }, 1],
    ['the path of updates is gone', { fault: ({ path }) => (path === '/v2/updates/flats' ? notFound : undefined) }, 2],
  ])('sends few requests: %s (G12)', (_, options, mostInASecond) => {
    const times = later(
      requestTimes({ latencyMs: 1, client: { retry: { giveUpAfterMs: 20 * minute } }, ...options }),
      minute,
    );
    // it has not ended
    expect(times.length).toBeGreaterThan(8);
    expect(mostWithin(times, 1_000)).toBeLessThanOrEqual(mostInASecond);
  });
});

describe('a feed of a quiet ledger', () => {
  it.each<[string, WorldOptions['earlyCheckpointMs'], number]>([
    ['no poll gets a checkpoint', undefined, 7],
    ...[1, 6, 250, 500, 540].map((ms): [string, number, number] => [`each poll gets one after ${ms} ms`, ms, 5]),
    ...[610, 800, 999].map((ms): [string, number, number] => [`each poll gets one after ${ms} ms`, ms, 60]),
  ])('sends few requests a minute: %s (G12)', (_, earlyCheckpointMs, mostInAMinute) => {
    const times = later(requestTimes({ latencyMs: 1, earlyCheckpointMs }), minute);
    expect(mostWithin(times, 1_000)).toBeLessThanOrEqual(2);
    expect(mostWithin(times, minute)).toBeLessThanOrEqual(mostInAMinute);
  });

  it('sends at most a request a second on average, whichever polls get a checkpoint', () => {
    let polls = 0;
    const random = [6, undefined, 300, 12, 590, undefined, undefined, 1, 1, 480, 700, undefined, 20];
    const times = requestTimes({ latencyMs: 1, earlyCheckpointMs: () => random[(polls += 1) % random.length] });
    expect(mostWithin(later(times, minute), minute)).toBeLessThanOrEqual(60);
  });
});

describe('many feeds of a participant that recovers', () => {
  it('do not all send their requests at once', () => {
    const down = 3 * minute;
    const times = requestTimes(
      {
        latencyMs: 1,
        client: { retry: { giveUpAfterMs: 20 * minute } },
        fault: () => (asyncScheduler.now() < down ? errorReply(503, errorBody('SERVICE_NOT_RUNNING', 1)) : undefined),
      },
      100,
    );
    // each requests the ledger end, then polls: without jitter, a hundred requests in one millisecond
    const back = times.filter((at) => at >= down && at < down + 30_000);
    expect(back.length).toBeGreaterThan(200);
    expect(mostWithin(back, 100)).toBeLessThan(40);
  });
});
