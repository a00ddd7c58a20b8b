import { describe, expect, it } from '@jest/globals';
import { errorReply, errorBody } from '../helpers/wire.js';
import { offsets } from '../helpers/observe.js';
import type { Reply } from '../helpers/scripted.js';
import { append, isPage, play } from './worlds.js';

const internal = errorReply(500, errorBody('LEDGER_API_INTERNAL_ERROR', 4));
const statuses = [302, 400, 403, 404, 405, 407, 413, 451, 460, 500, 501, 505, 507, 520, 524, 530, 561, 598, 599];
const bodies = ['<html>nginx</html>', '', '404 page not found', '{"message":"no Route matched with those values"}'];
const cases: readonly (readonly [string, Reply])[] = [
  ...statuses.flatMap((status) => bodies.map((body) => [`${status} ${body}`, errorReply(status, body)] as const)),
  ['200 with a page', { status: 200, headers: {}, text: '<html>maintenance</html>' }],
  ['an internal error of the ledger', internal],
  ['an internal error without a reason', errorReply(500, errorBody('NA', -1))],
];

/** Answers from a moment on, a few times, where the participant has answered. */
const failAt = (reply: Reply, times: number) => {
  let pages = 0;
  return (request: Parameters<typeof isPage>[0]) => {
    if (!isPage(request)) return undefined;
    pages += 1;
    return pages > 1 && pages <= 1 + times ? reply : undefined;
  };
};

describe('an answer of the network', () => {
  it.each(cases)('where the participant has answered is an outage: %s', (_, reply) => {
    const { seen } = play({ fault: failAt(reply, 3) }, { updates: [1], forMs: 60_000, at: { 30_000: append(2) } });
    expect(seen.error).toBeUndefined();
    expect(offsets(seen.values)).toEqual([1, 2]);
  });

  it.each([302, 400, 403, 404, 405, 413, 451, 501, 505])('to the first request ends the feed: %d', (status) => {
    const { seen, service } = play({ fault: () => errorReply(status, '<html>nginx</html>') }, { forMs: 60_000 });
    expect(seen.error).toMatchObject({ _tag: 'ApiError', status, answeredBy: 'network', product: 'nginx' });
    expect(String(seen.error)).toContain('URL: http');
    expect(service.requests.length).toBeLessThanOrEqual(2);
    expect(seen.endedAt).toBeLessThan(1_000);
  });

  it.each([500, 507, 520, 599, 460])('to the first request may pass: %d', (status) => {
    const fault = (_: unknown, n: number) => (n <= 3 ? errorReply(status, '') : undefined);
    expect(offsets(play({ fault }, { updates: [1], forMs: 60_000 }).seen.values)).toEqual([1]);
  });

  it('that lasts ends the feed when the time is used up, and does not switch the path', () => {
    const { seen, service } = play(
      { fault: failAt(errorReply(404, 'default backend - 404'), Infinity) },
      { updates: [1] },
    );
    expect(seen.error).toMatchObject({ status: 404, retried: { forMs: 300_000 } });
    expect(service.requests.map(({ path }) => path)).not.toContain('/v2/updates');
  });
});

describe('an internal error of the ledger that stays', () => {
  it('ends the feed after a few repetitions, with the cause', () => {
    const { seen } = play({ fault: failAt(internal, Infinity) }, { updates: [1] });
    expect(seen.error).toMatchObject({ code: 'LEDGER_API_INTERNAL_ERROR', retried: { times: 5 } });
    expect(seen.endedAt).toBeLessThan(60_000);
  });

  it.each<[string, Reply | undefined]>([
    ['a success', undefined],
    ['another failure, as of a restart', errorReply(502, '')],
  ])('is counted from the beginning after %s', (_, between) => {
    let pages = 0;
    const fault = (request: Parameters<typeof isPage>[0]) => {
      if (!isPage(request)) return undefined;
      pages += 1;
      if (pages === 1 || pages > 12) return undefined;
      return pages === 7 ? between : internal;
    };
    const { seen } = play({ fault }, { updates: [1], forMs: 200_000, at: { 150_000: append(2) } });
    expect(seen.error).toBeUndefined();
    expect(offsets(seen.values)).toEqual([1, 2]);
    expect(pages).toBeGreaterThan(12);
  });
});
