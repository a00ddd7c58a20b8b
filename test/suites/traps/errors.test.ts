/** Traps that clients of this ledger fell into: errors that pass for updates, that last for ever, or that end what would have healed. */
import { describe, expect, it } from '@jest/globals';
import { map, takeUntil, timer, type Observable } from 'rxjs';
import { marbles } from '../../helpers/marbles.js';
import { observe, offsets } from '../../helpers/observe.js';
import { canton, failed, ok, type Asked, type Reply } from '../../helpers/scripted.js';
import { fill, upTo, world } from '../../helpers/world.js';
import { invalid, transaction } from '../../helpers/wire.js';

const isPage = ({ path }: Asked): boolean => path.startsWith('/v2/updates');
/** Fails where a mistake would go on for ever. */
const inTime = <A>(source: Observable<A>): Observable<A> => source.pipe(takeUntil(timer(600_000)));
const error = canton('INVALID_ARGUMENT', 8);

describe('an error body with status 200', () => {
  it.each<[string, unknown]>([
    ['alone', error],
    ['in a list', [error]],
    ['under a key', { error }],
    ['in a list and under a key', [{ error }]],
    ['in the place of an update', [{ update: error }]],
    ['behind an update', [transaction(1), error]],
  ])('is not taken for an update, nor for the end: %s', (_, body) => {
    marbles(({ flush }) => {
      const { ledger, feed } = world({ fault: (asked) => (isPage(asked) ? ok(body) : undefined) });
      fill(ledger, 1, 2);
      const seen = observe(feed({ endInclusive: 2 }).pipe(inTime));
      flush();
      expect(seen.values.every(({ _tag }) => _tag === 'Transaction')).toBe(true);
      expect(seen).toMatchObject({ completed: false, error: { _tag: 'DecodeError' } });
    });
  });

  it('is not taken for the ledger end', () => {
    marbles(({ flush }) => {
      const { service, feed } = world({ fault: () => ok(error) });
      const seen = observe(feed({ beginExclusive: 5 }).pipe(inTime));
      flush();
      expect(seen.error).toMatchObject({ _tag: 'DecodeError' });
      expect(service.asked).toHaveLength(1);
    });
  });
});

describe('an answer that is no success', () => {
  it.each([500, 503, 404, 400, 302])('is not one, though its body looks well: %i', (status) => {
    marbles(({ flush }) => {
      const { ledger, feed } = world({
        fault: (asked) => (isPage(asked) ? failed(status, [transaction(1)]) : undefined),
      });
      fill(ledger, 1);
      const seen = observe(feed({ endInclusive: 1 }, { retry: { giveUpAfterMs: 0 } }).pipe(inTime));
      flush();
      expect(seen).toMatchObject({ values: [], completed: false, error: { _tag: 'ApiError', status } });
    });
  });
});

describe('a failure that passes', () => {
  it.each<[string, Reply]>([
    ['409 of the sequencer', failed(409, canton('SEQUENCER_BACKPRESSURE', 2))],
    ['409 of the participant', failed(409, canton('PARTICIPANT_BACKPRESSURE', 2))],
    ['503 of the ledger', failed(503, canton('SERVICE_NOT_RUNNING', 1))],
    ['503 in plain text', failed(503, 'The server was not able to produce a timely response to your request.')],
    ['503 of a proxy', failed(503, '<html>')],
  ])('is waited for, whether the ledger tells of it or another: %s', (_, reply) => {
    marbles(({ flush }) => {
      const { ledger, feed } = world({ fault: (_asked, n) => (n % 2 === 1 ? reply : undefined) });
      fill(ledger, ...upTo(9));
      const seen = observe(feed({ endInclusive: 9 }, { maxPageSize: 2 }).pipe(inTime));
      flush();
      expect(seen).toMatchObject({ error: undefined, completed: true });
      expect(offsets(seen.values)).toEqual(upTo(9));
    });
  });
});

describe('a token that expires', () => {
  it.each<[string, Reply]>([
    ['401', failed(401, canton('NA', -1))],
    ['in the words of the ledger', failed(409, canton('ACCESS_TOKEN_EXPIRED', 2))],
    ['with a stream that has become stale', failed(409, canton('STALE_STREAM_AUTHORIZATION', 2))],
  ])('within a poll ends no feed where the provider has another: %s', (_, reply) => {
    marbles(({ flush }) => {
      let token = 1;
      const { ledger, feed } = world({
        latencyMs: 5,
        client: { token: () => `token-${token}` },
        fault: (asked) => {
          if (!('stream_idle_timeout_ms' in asked.query) || asked.token !== 'token-1') return undefined;
          return timer(1_000).pipe(
            map(() => {
              token = 2;
              return reply;
            }),
          );
        },
      });
      fill(ledger, 1);
      const seen = observe(feed().pipe(takeUntil(timer(60_000))));
      timer(30_000).subscribe(() => {
        fill(ledger, 2);
      });
      flush();
      expect(token).toBe(2);
      expect(seen.error).toBeUndefined();
      expect(offsets(seen.values)).toEqual([1, 2]);
    });
  });
});

describe('after an error', () => {
  it('nothing comes, though the ledger goes on', () => {
    marbles(({ flush }) => {
      const { ledger, service, feed } = world();
      const log: string[] = [];
      inTime(feed()).subscribe({
        next: ({ offset }) => log.push(`update ${offset}`),
        error: () => log.push('error'),
        complete: () => log.push('complete'),
      });
      fill(ledger, 1);
      ledger.append(2, invalid(2));
      for (const offset of [3, 4])
        timer(1_000 * offset).subscribe(() => {
          fill(ledger, offset);
        });
      flush();
      expect(log).toEqual(['update 1', 'error']);
      expect(service.open).toBe(0);
    });
  });
});
