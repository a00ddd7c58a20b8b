import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { asyncScheduler, concat, concatMap, defer, interval, map, of, take, takeUntil, timer } from 'rxjs';
import type { HttpPort, HttpResponse } from '../../src/http/HttpPort.js';
import type { Token } from '../../src/client/TokenSource.js';
import { effort } from '../helpers/effort.js';
import { observe, offsets } from '../helpers/observe.js';
import { socketEnd, socketOpen, socketText } from '../helpers/scripted.js';
import { marbles } from '../helpers/time.js';
import { jwt } from '../helpers/tokens.js';
import { errorBody, errorReply, ok, transactionValue } from '../helpers/wire.js';
import { fill, upTo, world } from '../helpers/world.js';

/** The tokens of a run, and how a program gets them. */
const plan = fc.record({
  /** The life of each token, in milliseconds. */
  lifeMs: fc.integer({ min: 2, max: 30 }).map((seconds) => 1_000 * seconds),
  /** When the provider replaces a token, in milliseconds after its end. */
  renewedMs: fc.oneof(fc.constant(0), fc.integer({ min: -1_500, max: 1_000 })),
  /** Whether the provider drops a token that was refused. */
  dropsRefused: fc.boolean(),
  isOpaque: fc.boolean(),
  /** By how many milliseconds the clock of the participant, which sets the ends, is ahead of the one of the program. */
  aheadMs: fc.oneof(fc.constant(0), fc.constantFrom(-3_600_000, -20_000, 20_000, 300_000, 3_600_000)),
  /** How the provider returns a token, and after how many milliseconds. */
  returns: fc.constantFrom('string', 'observable'),
  loginMs: fc.integer({ min: 0, max: 300 }),
  feeds: fc.integer({ min: 1, max: 12 }),
  isPushed: fc.boolean(),
  /** When the participant refuses every token, and for how long, in milliseconds. */
  refusals: fc.array(
    fc.record({ from: fc.integer({ min: 5_000, max: 35_000 }), forMs: fc.integer({ min: 1, max: 10_000 }) }),
    { maxLength: 2 },
  ),
});

/** The participant has refused a token for half a second, and this machine's clock says that it has five minutes left. */
const skewed: Plan = {
  ...{ lifeMs: 10_000, renewedMs: 500, dropsRefused: true, isOpaque: false, aheadMs: 300_000 },
  ...{ returns: 'string', loginMs: 0, feeds: 1, isPushed: false, refusals: [] },
};

type Plan = typeof plan extends fc.Arbitrary<infer A> ? A : never;

const durationMs = 40_000;
const submitPath = '/v2/commands/submit-and-wait-for-transaction';
const grpc = { 401: 16, 403: 7 } as const;
const withheld = (status: 401 | 403): object => ({ ...errorBody('NA', -1), grpcCodeValue: grpc[status] });

function play(tokens: Plan) {
  const { lifeMs, renewedMs, dropsRefused, isOpaque, aheadMs, returns, loginMs, feeds, isPushed, refusals } = tokens;
  return marbles(({ flush }) => {
    const now = (): number => asyncScheduler.now();
    const ends = new Map<string, number>();
    let cached = { token: '', end: -Infinity };
    let calls = 0;
    const login = (): string => {
      const end = now() + lifeMs;
      const token = isOpaque ? `token-${ends.size}` : jwt({ exp: (end + aheadMs) / 1_000, jti: String(ends.size) });
      ends.set(token, end);
      cached = { token, end };
      return token;
    };
    const token: Token = (refused) => {
      calls += 1;
      const isKept = now() < cached.end + renewedMs && !(dropsRefused && cached.token === refused);
      if (isKept) return returns === 'string' ? cached.token : of(cached.token);
      return returns === 'string' ? login() : timer(loginMs).pipe(map(login));
    };
    /** As participants of 3.5 answer. */
    const refusalOf = (sent = ''): 401 | 403 | undefined => {
      const end = ends.get(sent) ?? -Infinity;
      if (refusals.some(({ from, forMs }) => now() >= from && now() < from + forMs)) return 401;
      if (now() < end) return undefined;
      return now() < end + 1_000 ? 403 : 401;
    };
    const participantDate = (): string => new Date(now() + aheadMs).toUTCString();
    let refused = 0;
    const answer = (sent: string | undefined): HttpResponse | undefined => {
      const status = refusalOf(sent);
      if (status === undefined) return undefined;
      refused += 1;
      return errorReply(status, withheld(status));
    };
    const port: HttpPort = (request) =>
      its.service
        .port(request)
        .pipe(map(({ headers, ...response }) => ({ ...response, headers: { ...headers, date: participantDate() } })));
    const its = world({
      latencyMs: 5,
      client: { token, port },
      fault: (request) =>
        answer(request.token) ?? (request.path === submitPath ? ok({ transaction: transactionValue(7) }) : undefined),
      socketFault: (request) => {
        const sent = request.headers['authorization']?.replace('Bearer ', '') ?? '';
        const status = refusalOf(sent);
        if (status !== undefined) return of(socketOpen, socketText(withheld(status)), socketEnd(1000));
        const expired = { ...errorBody('ACCESS_TOKEN_EXPIRED', 2), grpcCodeValue: 10 };
        return concat(
          its.ledger.streamText(request).pipe(takeUntil(timer((ends.get(sent) ?? 0) - now()))),
          of(socketText(expired), socketEnd(1000)),
        );
      },
    });
    interval(1_000)
      .pipe(takeUntil(timer(durationMs)))
      .subscribe((n) => {
        fill(its.ledger, n + 1);
      });
    const end$ = timer(durationMs + 60_000);
    const options = isPushed ? its.websocket : {};
    const seen = Array.from({ length: feeds }, () => observe(its.feed({}, options).pipe(takeUntil(end$))));
    const submissions = observe(
      interval(1_700).pipe(
        take(Math.floor(durationMs / 1_700)),
        concatMap(() =>
          defer(() =>
            its.client.submitAndWaitForTransaction({
              actAs: ['alice::1220ab'],
              commands: [{ CreateCommand: { templateId: '#assets:Main:Asset', createArguments: {} } }],
            }),
          ),
        ),
      ),
    );
    flush();
    return {
      seen,
      submissions,
      calls,
      refused,
      requests: its.service.requests.length,
      sockets: its.sockets.requests.length,
    };
  });
}

describe('a ledger whose tokens end', () => {
  it('goes on with each feed and each submission, whenever the provider renews its token, whatever the clocks (G15)', () => {
    fc.assert(
      fc.property(plan, (tokens) => {
        const { seen, submissions, calls, refused, requests, sockets } = play(tokens);
        for (const { error, values } of seen) {
          expect(error).toBeUndefined();
          expect(offsets(values)).toEqual(upTo(durationMs / 1_000 - 1));
        }
        expect(submissions.error).toBeUndefined();
        expect(submissions.completed).toBe(true);
        // one call for each request, and one after each refusal
        expect(calls).toBeLessThanOrEqual(requests + sockets + refused);
        const occasions = durationMs / tokens.lifeMs + tokens.refusals.length + 1;
        expect(refused).toBeLessThan(occasions * (tokens.feeds + 1) * 40);
      }),
      { numRuns: effort(5, 400), examples: [[skewed], [{ ...skewed, isPushed: true }]] },
    );
  });
});
