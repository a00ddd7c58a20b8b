/** Mistakes of other clients of this ledger: errors taken for updates, errors without end, and feeds that end at a passing error. */
import { describe, expect, it } from '@jest/globals';
import { map, takeUntil, timer, type Observable } from 'rxjs';
import { observe, offsets } from '../../helpers/observe.js';
import type { ServiceRequest, Reply } from '../../helpers/scripted.js';
import { fill, upTo, world } from '../../helpers/world.js';
import { invalid, transaction, errorBody, errorReply, ok } from '../../helpers/wire.js';
import { marbles } from '../../helpers/time.js';

const isPage = ({ path }: ServiceRequest): boolean => path.startsWith('/v2/updates');
/** Fails where a mistake would loop without end. */
const inTime = <A>(source: Observable<A>): Observable<A> => source.pipe(takeUntil(timer(600_000)));
const error = errorBody('INVALID_ARGUMENT', 8);

describe('an error body with status 200', () => {
  it.each<[string, unknown]>([
    ['alone', error],
    ['in a list', [error]],
    ['under a key', { error }],
    ['in a list and under a key', [{ error }]],
    ['in the place of an update', [{ update: error }]],
    ['after an update', [transaction(1), error]],
  ])('is not taken for an update, nor for the end of the feed: %s', (_, body) => {
    marbles(({ flush }) => {
      const { ledger, feed } = world({ fault: (request) => (isPage(request) ? ok(body) : undefined) });
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
      expect(service.requests).toHaveLength(1);
    });
  });
});

describe('an answer without success', () => {
  it.each([500, 503, 404, 400, 302])('is an error even with a valid body: %i', (status) => {
    marbles(({ flush }) => {
      const { ledger, feed } = world({
        fault: (request) => (isPage(request) ? errorReply(status, [transaction(1)]) : undefined),
      });
      fill(ledger, 1);
      const seen = observe(feed({ endInclusive: 1 }, { retry: { giveUpAfterMs: 0 } }).pipe(inTime));
      flush();
      expect(seen).toMatchObject({ values: [], completed: false, error: { _tag: 'ApiError', status } });
    });
  });
});

describe('a temporary failure', () => {
  it.each<[string, Reply]>([
    ['409 of the sequencer', errorReply(409, errorBody('SEQUENCER_BACKPRESSURE', 2))],
    ['409 of the participant', errorReply(409, errorBody('PARTICIPANT_BACKPRESSURE', 2))],
    ['503 of the ledger', errorReply(503, errorBody('SERVICE_NOT_RUNNING', 1))],
    ['503 in plain text', errorReply(503, 'The server was not able to produce a timely response to your request.')],
    ['503 of a proxy', errorReply(503, '<html>')],
  ])('is retried, whether the ledger or a proxy reports it: %s', (_, reply) => {
    marbles(({ flush }) => {
      const { ledger, feed } = world({ fault: (_request, n) => (n % 2 === 1 ? reply : undefined) });
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
    ['401', errorReply(401, errorBody('NA', -1))],
    ['in the words of the ledger', errorReply(409, errorBody('ACCESS_TOKEN_EXPIRED', 2))],
    ['with a stream that has become stale', errorReply(409, errorBody('STALE_STREAM_AUTHORIZATION', 2))],
  ])('during a poll does not end a feed whose provider has a new token: %s', (_, reply) => {
    marbles(({ flush }) => {
      let token = 1;
      const { ledger, feed } = world({
        latencyMs: 5,
        client: { token: () => `token-${token}` },
        fault: (request) => {
          if (!('stream_idle_timeout_ms' in request.query) || request.token !== 'token-1') return undefined;
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
  it('nothing is emitted, though the ledger grows', () => {
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
