import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { asyncScheduler, NEVER } from 'rxjs';
import type { Diagnostic, DiagnosticBody } from '../../src/diagnostics/Diagnostic.js';
import { Client, type ClientSettings } from '../../src/client/Client.js';
import { Learned } from '../../src/client/Learned.js';
import { observe } from '../helpers/observe.js';

const settings: ClientSettings = {
  port: () => NEVER,
  address: 'http://ledger.example',
  headers: {},
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

describe('what is learned of a participant', () => {
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
    const learned = new Learned('auto');
    for (const [step, expected] of steps) {
      step(learned);
      expect(read(learned)).toBe(expected);
    }
  });

  it('is shared by the views of a client, and not with another client', () => {
    const client = new Client(settings);
    const view = client.within([{ interceptor: {} }]);
    view.learned.pages.refused(200);
    client.learned.ledgerEndUnavailable();
    view.learned.pathMissing('/v2/updates/flats');
    expect(client.learned).toMatchObject({ pages: { proven: 100 }, updatesPath: '/v2/updates' });
    expect(view.learned.hasLedgerEnd).toBe(false);
    expect(new Client(settings).learned.pages.proven).toBe(Infinity);
  });

  it('has a place for what another room learns', () => {
    class Sockets {
      count = 0;
    }
    const client = new Client(settings);
    client.learned.of(Sockets).count += 1;
    expect(client.within([]).learned.of(Sockets).count).toBe(1);
    expect(new Client(settings).learned.of(Sockets).count).toBe(0);
  });
});

describe('the diagnostics of a client', () => {
  const caughtUp = (cursor: number): DiagnosticBody => ({ _tag: 'CaughtUp', cursor });

  it('are emitted with the number of the feed, and created only for a subscriber', () => {
    const client = new Client(settings);
    const make = jest.fn(() => caughtUp(1));
    client.report(make);
    expect(make).not.toHaveBeenCalled();
    const seen = observe(client.diagnostics$);
    client.report(make);
    client.reportForNewFeed()(() => caughtUp(2));
    client.reportForNewFeed()(() => caughtUp(3));
    seen.subscription.unsubscribe();
    client.report(make);
    expect(make).toHaveBeenCalledTimes(1);
    expect(seen.values).toEqual([
      { _tag: 'CaughtUp', cursor: 1, at: now },
      { _tag: 'CaughtUp', cursor: 2, at: now, feed: 1 },
      { _tag: 'CaughtUp', cursor: 3, at: now, feed: 2 },
    ]);
    expect(seen.values[0]).not.toHaveProperty('feed');
  });

  it('are passed to interceptors before the subscribers get them, and all feeds are numbered together', () => {
    const calls: unknown[] = [];
    const seenBy = (name: string) => ({
      report: ({ feed }: Diagnostic): void => void calls.push([name, feed]),
    });
    const client = new Client({ ...settings, interceptors: [seenBy('interceptor')] });
    client.diagnostics$.subscribe(({ feed }) => calls.push(['subscriber', feed]));
    const [scope] = client.scopes;
    const view = client.within(scope === undefined ? [] : [{ ...scope, added: seenBy('operation') }]);
    client.reportForNewFeed()(() => caughtUp(2));
    view.reportForNewFeed()(() => caughtUp(3));
    expect(calls).toEqual([
      ['interceptor', 1],
      ['subscriber', 1],
      ['operation', 2],
      ['subscriber', 2],
    ]);
  });
});
