import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { NEVER, of, takeUntil, timer } from 'rxjs';
import { observe, offsets } from '../helpers/observe.js';
import { fill, upTo, world } from '../helpers/world.js';
import { itInVirtualTime, marbles } from '../helpers/time.js';
import { errorBody, errorReply } from '../helpers/wire.js';

beforeEach(() => {
  jest.spyOn(Math, 'random').mockReturnValue(0.5);
});
afterEach(() => {
  jest.restoreAllMocks();
});

describe('a token', () => {
  const isValid = (token: string | undefined): boolean => token === 'fresh' || token === 'newer';
  const unauthorized = errorReply(401, errorBody('NA', -1));
  const expired = errorReply(409, errorBody('ACCESS_TOKEN_EXPIRED', 2));

  itInVirtualTime('is requested for every request', ({ flush }) => {
    let n = 0;
    const { ledger, service, feed } = world({ client: { token: () => of(`token-${(n += 1)}`) } });
    const feed$ = feed().pipe(takeUntil(timer(100)));
    expect(n).toBe(0);
    fill(ledger, 1);
    observe(feed$);
    flush();
    expect(service.requests.map(({ token }) => token)).toEqual(['token-1', 'token-2', 'token-3']);
  });

  it.each([
    ['401', unauthorized],
    ['ACCESS_TOKEN_EXPIRED', expired],
  ])('that is refused is replaced by another one, and nothing is lost: %s (G15)', (_, refusal) => {
    marbles(({ flush }) => {
      const tokens = ['fresh', 'stale', 'newer', 'fresh', 'stale', 'fresh'];
      let n = 0;
      const { ledger, service, feed } = world({
        latencyMs: 5,
        client: { token: () => tokens[n++ % tokens.length] ?? '' },
        fault: ({ token }) => (isValid(token) ? undefined : refusal),
      });
      fill(ledger, ...upTo(1_000));
      const seen = observe(feed().pipe(takeUntil(timer(1_000))));
      flush();
      expect(seen.error).toBeUndefined();
      expect(offsets(seen.values)).toEqual(upTo(1_000));
      expect(service.requests.map(({ token }) => token).slice(0, 4)).toEqual(['fresh', 'stale', 'newer', 'fresh']);
    });
  });

  it.each([
    ['the same again', () => 'stale', 1],
    ['a constant', 'stale', 1],
  ])('that stays refused ends the feed: %s (G15)', (_, token, requests) => {
    marbles(({ flush }) => {
      const { service, feed } = world({ client: { token }, fault: () => unauthorized });
      const seen = observe(feed());
      flush();
      expect(seen.error).toMatchObject({ _tag: 'UnauthorizedError' });
      expect(service.requests).toHaveLength(requests);
      expect(JSON.stringify(seen.error)).not.toContain('stale');
    });
  });

  it.each([undefined, null, '', 'with a blank', 'a\nb', 42])(
    'that is invalid is a TokenError, and nothing is sent: %j',
    (given) => {
      marbles(({ flush }) => {
        // @ts-expect-error -- an answer without a check
        const { service, feed } = world({ client: { retry: { giveUpAfterMs: 1 }, token: () => of(given) } });
        const seen = observe(feed());
        flush();
        expect(seen.error).toMatchObject({
          _tag: 'TokenError',
          reason: expect.stringMatching(/^the provider did not return a token/),
        });
        expect(service.requests).toEqual([]);
      });
    },
  );

  itInVirtualTime('that the provider does not return is a transient failure', ({ flush }) => {
    const retry = { giveUpAfterMs: 1_000 };
    const broken = world({
      client: {
        retry,
        token: () => {
          throw new Error('the secret is hush');
        },
      },
    });
    const silent = world({ client: { retry, token: () => NEVER } });
    const seen = observe(broken.feed());
    const waited = observe(silent.feed());
    flush();
    expect(seen.error).toMatchObject({ _tag: 'TokenError' });
    expect(String(seen.error)).not.toContain('hush');
    expect(broken.service.requests).toEqual([]);
    expect(waited.error).toMatchObject({ _tag: 'TokenError' });
  });
});
