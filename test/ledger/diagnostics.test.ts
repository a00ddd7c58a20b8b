import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { take, takeUntil, timer } from 'rxjs';
import type { Diagnostic } from '../../src/diagnostics/Diagnostic.js';
import { observe } from '../helpers/observe.js';
import { fill, upTo, world, type World, type WorldOptions } from '../helpers/world.js';
import { itInVirtualTime, marbles } from '../helpers/time.js';
import { errorBody, errorReply, notFound } from '../helpers/wire.js';

beforeEach(() => {
  jest.spyOn(Math, 'random').mockReturnValue(0.5);
});
afterEach(() => {
  jest.restoreAllMocks();
});

type Tag = Diagnostic['_tag'];
const tagsOf = (events: readonly Diagnostic[]): Tag[] => events.map(({ _tag }) => _tag);
const only = <T extends Tag>(events: readonly Diagnostic[], tag: T): Extract<Diagnostic, { _tag: T }>[] =>
  events.filter((event): event is Extract<Diagnostic, { _tag: T }> => event._tag === tag);

/** The diagnostics of a feed within a while. */
function diagnosticsOf(
  options: WorldOptions,
  during: (given: World) => void,
  how: Parameters<World['feed']>[1] = {},
  range: Parameters<World['feed']>[0] = {},
): Diagnostic[] {
  const events: Diagnostic[] = [];
  marbles(({ flush }) => {
    const given = world(options);
    given.client.diagnostics$.subscribe((event) => events.push(event));
    observe(given.feed(range, how).pipe(takeUntil(timer(20_000))));
    during(given);
    flush();
  });
  return events;
}

describe('diagnostics$', () => {
  it('reports a bounded feed from its start to its end, with offsets and durations', () => {
    const events = diagnosticsOf(
      { latencyMs: 5 },
      ({ ledger }) => {
        fill(ledger, ...upTo(5));
      },
      { maxPageSize: 3 },
      { beginExclusive: 1, endInclusive: 5 },
    );
    const at = events[0]?.at ?? 0;
    const path = '/v2/updates/flats';
    const more = { feed: 1, path };
    expect(events.map((event) => ({ ...event, at: event.at - at }))).toEqual([
      { _tag: 'FeedStarted', at: 0, feed: 1, beginExclusive: 1, endInclusive: 5 },
      { _tag: 'PollSent', at: 5, ...more, beginExclusive: 1, endInclusive: 5, limit: 3 },
      { _tag: 'PageReceived', at: 10, ...more, count: 3, first: 2, last: 4, durationMs: 5 },
      { _tag: 'PollSent', at: 10, ...more, beginExclusive: 4, endInclusive: 5, limit: 3 },
      { _tag: 'PageReceived', at: 15, ...more, count: 1, first: 5, last: 5, durationMs: 5 },
      { _tag: 'FeedEnded', at: 15, feed: 1, how: 'completed' },
    ]);
  });

  it('reports once that a feed has caught up, after its updates are emitted', () => {
    const events: (Diagnostic | number)[] = [];
    marbles(({ flush }) => {
      const { ledger, client, feed } = world({ latencyMs: 5 });
      fill(ledger, ...upTo(5));
      client.diagnostics$.subscribe((event) => events.push(event));
      feed()
        .pipe(takeUntil(timer(20_000)))
        .subscribe(({ offset }) => events.push(offset));
      timer(9_000).subscribe(() => {
        fill(ledger, 6);
      });
      flush();
    });
    const marks = events.map((event) => (typeof event === 'number' ? event : event._tag));
    expect(marks.filter((mark) => typeof mark === 'number' || mark === 'CaughtUp')).toEqual([
      1,
      2,
      3,
      4,
      5,
      'CaughtUp',
      6,
    ]);
    const caughtUp = events.find((event) => typeof event !== 'number' && event._tag === 'CaughtUp');
    expect(caughtUp).toMatchObject({ cursor: 5 });
    expect(marks.at(-1)).toBe('FeedEnded');
  });

  it.each([true, false])(
    'reports that a feed falls behind and catches up again; with a ledger end: %p',
    (hasLedgerEnd) => {
      const events = diagnosticsOf(
        { latencyMs: 5, hasLedgerEnd, maxListElements: 200 },
        ({ ledger }) => {
          timer(9_000).subscribe(() => {
            fill(ledger, ...upTo(50));
          });
        },
        { maxPageSize: 4 },
      );
      expect(tagsOf(events).filter((tag) => tag === 'CaughtUp' || tag === 'FellBehind')).toEqual([
        'CaughtUp',
        'FellBehind',
        'CaughtUp',
      ]);
      const [behind] = only(events, 'FellBehind');
      if (hasLedgerEnd) expect(behind).toMatchObject({ cursor: 4, lag: 46 });
      else expect(behind).not.toHaveProperty('lag');
      expect(only(events, 'CaughtUp').at(-1)).toMatchObject({ cursor: 50 });
    },
  );

  it('does not report a single new update as falling behind', () => {
    const events = diagnosticsOf({ latencyMs: 5 }, ({ ledger }) => {
      for (const offset of upTo(10))
        timer(1_000 * offset).subscribe(() => {
          fill(ledger, offset);
        });
    });
    expect(only(events, 'CaughtUp')).toHaveLength(1);
    expect(only(events, 'FellBehind')).toHaveLength(0);
  });

  it('reports each retry: its cause, delay, number and the budget that is used up', () => {
    const events = diagnosticsOf(
      {
        fault: (_, n) => (n <= 3 ? errorReply(503, errorBody('SERVICE_NOT_RUNNING', 1)) : undefined),
        client: { retry: { baseDelayMs: 100 } },
      },
      () => undefined,
    );
    expect(only(events, 'RetryScheduled')).toMatchObject([
      { feed: 1, cause: { _tag: 'ApiError', code: 'SERVICE_NOT_RUNNING' }, delayMs: 50, failures: 1, spentMs: 50 },
      { delayMs: 100, failures: 2, spentMs: 150 },
      { delayMs: 200, failures: 3, spentMs: 350 },
    ]);
  });

  it('reports what is learned: the page limit, the path', () => {
    const events = diagnosticsOf(
      { latencyMs: 5, maxListElements: 3, fault: ({ path }) => (path.endsWith('/flats') ? notFound : undefined) },
      ({ ledger }) => {
        fill(ledger, ...upTo(20));
      },
      { maxPageSize: 8 },
    );
    expect(only(events, 'EndpointSwitched')).toMatchObject([{ from: '/v2/updates/flats', to: '/v2/updates' }]);
    expect(only(events, 'PageLimitLearned').map(({ pageLimit }) => pageLimit)).toEqual([4, 2]);
  });

  it('reports a refused token that was replaced', () => {
    let tokens = 0;
    const events = diagnosticsOf(
      {
        client: { token: () => `token-${(tokens += 1)}` },
        fault: ({ token }) => (token === 'token-1' ? errorReply(401, errorBody('NA', -1)) : undefined),
      },
      () => undefined,
    );
    expect(only(events, 'TokenRefreshed')).toMatchObject([{ path: '/v2/state/ledger-end' }]);
    expect(JSON.stringify(events)).not.toContain('token-');
  });

  it.each([
    [undefined, { how: 'failed', error: { _tag: 'PrunedError' } }],
    [30, { how: 'unsubscribed' }],
  ])('reports a gap, and where the feed resumes: %p', (choice, end) => {
    const events = diagnosticsOf(
      {
        fault: ({ path, body }) =>
          path.startsWith('/v2/updates') && Number(body['beginExclusive']) < 30
            ? errorReply(400, errorBody('PARTICIPANT_PRUNED_DATA_ACCESSED', 9, { earliest_offset: '30' }))
            : undefined,
      },
      ({ ledger }) => {
        fill(ledger, ...upTo(40));
      },
      choice === undefined ? {} : { onGap: () => [choice] },
    );
    const [gap, ...others] = only(events, 'GapFound');
    expect(others).toEqual([]);
    expect(gap).toMatchObject({ cursor: 0, cause: { _tag: 'PrunedError' } });
    expect(gap?.resumesFrom).toBe(choice);
    expect(events.at(-1)).toMatchObject({ _tag: 'FeedEnded', ...end });
  });

  itInVirtualTime('reports nothing of a feed that was unsubscribed from while a page was emitted', ({ flush }) => {
    const { ledger, client, feed } = world({ latencyMs: 5 });
    fill(ledger, ...upTo(5));
    const events: Diagnostic[] = [];
    client.diagnostics$.subscribe((event) => events.push(event));
    observe(feed().pipe(take(5)));
    flush();
    expect(tagsOf(events)).toEqual(['FeedStarted', 'PollSent', 'PageReceived', 'FeedEnded']);
    expect(events.at(-1)).toMatchObject({ how: 'unsubscribed' });
  });

  itInVirtualTime('numbers the feeds of each ledger', ({ flush }) => {
    const { client, feed } = world();
    const other = world();
    const seen = observe(client.diagnostics$);
    observe(feed().pipe(takeUntil(timer(10))));
    observe(feed({ endInclusive: 0 }));
    observe(other.feed().pipe(takeUntil(timer(10))));
    flush();
    expect(new Set(seen.values.map((event) => event.feed))).toEqual(new Set([1, 2]));
    expect(seen.completed).toBe(false);
  });
});
