import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { asyncScheduler, NEVER } from 'rxjs';
import type { DiagnosticBody } from '../../src/diagnostics/Diagnostic.js';
import { Service } from '../../src/feed/Service.js';
import type { Link } from '../../src/http/Link.js';
import { observe } from '../helpers/observe.js';

const link: Omit<Link, 'report'> = {
  port: () => NEVER,
  baseUrl: 'http://ledger.example',
  headers: {},
  token: undefined,
  requestTimeoutMs: 30_000,
};

/** The clock of the machine, in milliseconds. */
let now = 0;
beforeEach(() => {
  now = 1_000_000;
  jest.spyOn(asyncScheduler, 'now').mockImplementation(() => now);
});
afterEach(() => {
  jest.restoreAllMocks();
});

type Learned = Service['learned'];

describe('what is learned of a service', () => {
  it.each<[string, (learned: Learned) => unknown, readonly (readonly [(learned: Learned) => void, unknown])[]]>([
    [
      'polls are half as long as one that was cut, a second at least, and a tenth longer after each that is answered',
      ({ maxPollMs }) => Math.round(maxPollMs),
      [
        [
          (its) => {
            its.pollAnswered();
          },
          Infinity,
        ],
        [
          (its) => {
            its.pollTimedOut(9_001);
          },
          4_500,
        ],
        [
          (its) => {
            its.pollTimedOut(4_600);
          },
          2_300,
        ],
        [
          (its) => {
            its.pollAnswered();
          },
          2_530,
        ],
        [
          (its) => {
            its.pollAnswered();
          },
          2_783,
        ],
        [
          (its) => {
            its.pollTimedOut(1_500);
          },
          1_000,
        ],
      ],
    ],
    [
      'ranges are a quarter of one that timed out, one offset at least, and twice as long after each that is answered',
      ({ maxRange }) => maxRange,
      [
        [
          (its) => {
            its.rangeAnswered();
          },
          Infinity,
        ],
        // the look-up of one offset says nothing
        [
          (its) => {
            its.rangeTimedOut(1);
          },
          Infinity,
        ],
        [
          (its) => {
            its.rangeTimedOut(1_003);
          },
          250,
        ],
        [
          (its) => {
            its.rangeTimedOut(3);
          },
          1,
        ],
        [
          (its) => {
            its.rangeAnswered();
          },
          2,
        ],
        [
          (its) => {
            its.rangeAnswered();
          },
          4,
        ],
      ],
    ],
    [
      'ranges are no shorter than what the service has searched',
      ({ maxRange }) => maxRange,
      [
        [
          (its) => {
            its.rangeTimedOut(100);
          },
          25,
        ],
        [
          (its) => {
            its.rangeReached(70);
          },
          70,
        ],
        [
          (its) => {
            its.rangeReached(10);
          },
          70,
        ],
      ],
    ],
    [
      'the ledger end is requested again a minute after it was unavailable, or once it was answered',
      ({ hasLedgerEnd }) => hasLedgerEnd,
      [
        [() => undefined, true],
        [
          (its) => {
            its.ledgerEndUnavailable();
          },
          false,
        ],
        [() => (now += 59_999), false],
        [() => (now += 1), true],
        [
          (its) => {
            its.ledgerEndUnavailable();
          },
          false,
        ],
        [
          (its) => {
            its.ledgerEndAnswered();
          },
          true,
        ],
      ],
    ],
  ])('%s', (_, read, steps) => {
    const { learned } = new Service(link);
    for (const [step, expected] of steps) {
      step(learned);
      expect(read(learned)).toBe(expected);
    }
  });

  it('is shared with the same service over another link, and not with another service', () => {
    const service = new Service(link);
    const other = service.withLink({ ...link, requestTimeoutMs: 1 }, () => undefined);
    expect([service.link.requestTimeoutMs, other.link.requestTimeoutMs]).toEqual([30_000, 1]);
    other.learned.pageTooLarge(200);
    service.learned.ledgerEndUnavailable();
    other.learned.pathMissing('/v2/updates/flats');
    expect(service.learned).toMatchObject({ pageLimit: 100, updatesPath: '/v2/updates' });
    expect(other.learned.hasLedgerEnd).toBe(false);
    expect(new Service(link).learned.pageLimit).toBe(Infinity);
  });
});

describe('the diagnostics of a service', () => {
  const caughtUp = (cursor: number): DiagnosticBody => ({ _tag: 'CaughtUp', cursor });

  it('are emitted with the number of the feed, and created only for a subscriber', () => {
    const service = new Service(link);
    const make = jest.fn(() => caughtUp(1));
    service.link.report(make);
    expect(make).not.toHaveBeenCalled();
    const seen = observe(service.diagnostics$);
    service.link.report(make);
    service.reportForNewFeed()(() => caughtUp(2));
    service.reportForNewFeed()(() => caughtUp(3));
    seen.subscription.unsubscribe();
    service.link.report(make);
    expect(make).toHaveBeenCalledTimes(1);
    expect(seen.values).toEqual([
      { _tag: 'CaughtUp', cursor: 1, at: now },
      { _tag: 'CaughtUp', cursor: 2, at: now, feed: 1 },
      { _tag: 'CaughtUp', cursor: 3, at: now, feed: 2 },
    ]);
    expect(seen.values[0]).not.toHaveProperty('feed');
  });

  it('of another link are emitted after their observer, and all feeds are numbered together', () => {
    const service = new Service(link);
    const calls: unknown[] = [];
    service.diagnostics$.subscribe((diagnostic) => calls.push(['emitted', diagnostic.feed]));
    const other = service.withLink(link, (diagnostic) => calls.push(['observed', diagnostic.feed]));
    other.link.report(() => caughtUp(1));
    service.reportForNewFeed()(() => caughtUp(2));
    other.reportForNewFeed()(() => caughtUp(3));
    expect(calls).toEqual([
      ['observed', undefined],
      ['emitted', undefined],
      ['emitted', 1],
      ['observed', 2],
      ['emitted', 2],
    ]);
  });
});
