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

const newService = (updatesPath?: ConstructorParameters<typeof Service>[1]): Service => new Service(link, updatesPath);

/** The clock of the machine, in milliseconds. */
let now = 0;

beforeEach(() => {
  now = 1_000_000;
  jest.spyOn(asyncScheduler, 'now').mockImplementation(() => now);
  // the longest delay of the back-off
  jest.spyOn(Math, 'random').mockReturnValue(1);
});
afterEach(() => {
  jest.restoreAllMocks();
});

describe('the longest idle timeout of a poll', () => {
  it('is half of the time after which a poll was cut', () => {
    const service = newService();
    expect(service.learned.maxPollMs).toBe(Infinity);
    service.learned.pollTimedOut(9_001);
    expect(service.learned.maxPollMs).toBe(4_500);
    service.learned.pollTimedOut(4_600);
    expect(service.learned.maxPollMs).toBe(2_300);
  });

  it('is at least a second', () => {
    const service = newService();
    service.learned.pollTimedOut(1_500);
    expect(service.learned.maxPollMs).toBe(1_000);
  });

  it('grows by a tenth with each poll that is answered', () => {
    const service = newService();
    service.learned.pollAnswered();
    expect(service.learned.maxPollMs).toBe(Infinity);
    service.learned.pollTimedOut(4_000);
    service.learned.pollAnswered();
    expect(service.learned.maxPollMs).toBeCloseTo(2_200);
    service.learned.pollAnswered();
    expect(service.learned.maxPollMs).toBeCloseTo(2_420);
  });
});

describe('the longest range of a page', () => {
  it('is a quarter of a range that timed out', () => {
    const service = newService();
    expect(service.learned.maxRange).toBe(Infinity);
    service.learned.rangeTimedOut(1_003);
    expect(service.learned.maxRange).toBe(250);
  });

  it('is at least one offset', () => {
    const service = newService();
    service.learned.rangeTimedOut(3);
    expect(service.learned.maxRange).toBe(1);
  });

  it('says nothing after the look-up of one offset that timed out', () => {
    const service = newService();
    service.learned.rangeTimedOut(1);
    expect(service.learned.maxRange).toBe(Infinity);
  });

  it('doubles with each page that is answered', () => {
    const service = newService();
    service.learned.rangeAnswered();
    expect(service.learned.maxRange).toBe(Infinity);
    service.learned.rangeTimedOut(40);
    service.learned.rangeAnswered();
    service.learned.rangeAnswered();
    expect(service.learned.maxRange).toBe(40);
  });

  it('is no shorter than what the service has searched', () => {
    const service = newService();
    service.learned.rangeTimedOut(100);
    service.learned.rangeReached(70);
    expect(service.learned.maxRange).toBe(70);
    service.learned.rangeReached(10);
    expect(service.learned.maxRange).toBe(70);
  });
});

describe('the ledger end', () => {
  it('is requested again a minute after it was unavailable', () => {
    const service = newService();
    expect(service.learned.hasLedgerEnd).toBe(true);
    service.learned.ledgerEndUnavailable();
    expect(service.learned.hasLedgerEnd).toBe(false);
    now += 59_999;
    expect(service.learned.hasLedgerEnd).toBe(false);
    now += 1;
    expect(service.learned.hasLedgerEnd).toBe(true);
  });

  it('is available as soon as the service has answered', () => {
    const service = newService();
    service.learned.ledgerEndUnavailable();
    service.learned.ledgerEndAnswered();
    expect(service.learned.hasLedgerEnd).toBe(true);
  });
});

const caughtUp = (offset: number): DiagnosticBody => ({ _tag: 'CaughtUp', cursor: offset });

describe('a service', () => {
  it('emits what its link and its feeds report, with the number of the feed', () => {
    const service = newService();
    const seen = observe(service.diagnostics$);
    service.link.report(() => caughtUp(1));
    service.reportForNewFeed()(() => caughtUp(2));
    service.reportForNewFeed()(() => caughtUp(3));
    expect(seen.values).toEqual([
      { _tag: 'CaughtUp', cursor: 1, at: now },
      { _tag: 'CaughtUp', cursor: 2, at: now, feed: 1 },
      { _tag: 'CaughtUp', cursor: 3, at: now, feed: 2 },
    ]);
    seen.subscription.unsubscribe();
  });

  it('creates a diagnostic only for a subscriber', () => {
    const service = newService();
    const make = jest.fn(() => caughtUp(7));
    service.link.report(make);
    expect(make).not.toHaveBeenCalled();
    const seen = observe(service.diagnostics$);
    service.link.report(make);
    seen.subscription.unsubscribe();
    service.link.report(make);
    expect(make).toHaveBeenCalledTimes(1);
    expect(seen.values).toEqual([{ _tag: 'CaughtUp', cursor: 7, at: expect.any(Number) }]);
    expect(seen.values[0]).not.toHaveProperty('feed');
  });

  it('shares what it learns with the same service over another link', () => {
    const service = newService();
    const other = service.withLink({ ...link, requestTimeoutMs: 1 }, () => undefined);
    expect([service.link.requestTimeoutMs, other.link.requestTimeoutMs]).toEqual([30_000, 1]);
    other.learned.pageTooLarge(200);
    service.learned.ledgerEndUnavailable();
    other.learned.pathMissing('/v2/updates/flats');
    expect(service.learned.pageLimit).toBe(100);
    expect(other.learned.hasLedgerEnd).toBe(false);
    expect(service.learned.updatesPath).toBe('/v2/updates');
  });

  it('emits the diagnostics of another link after their observer, and numbers all feeds together', () => {
    const service = newService();
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

  it('learns nothing from another service', () => {
    newService().learned.pageTooLarge(2);
    expect(newService().learned.pageLimit).toBe(Infinity);
  });
});
