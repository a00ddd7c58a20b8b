import { describe, expect, it } from '@jest/globals';
import { concatMap, map, type Observable, takeUntil, throwError, timer } from 'rxjs';
import type { Diagnostic } from '../../src/diagnostics/Diagnostic.js';
import type { HttpResponse } from '../../src/http/HttpPort.js';
import type { Token } from '../../src/client/TokenSource.js';
import { observe } from '../helpers/observe.js';
import type { ServiceRequest } from '../helpers/scripted.js';
import { marbles } from '../helpers/time.js';
import { jwt } from '../helpers/tokens.js';
import { errorBody, errorReply, ok, transactionValue } from '../helpers/wire.js';
import { fill, world } from '../helpers/world.js';

const withheld = (context = {}): object => ({ ...errorBody('NA', -1, context), grpcCodeValue: 7 });
const forbidden = errorReply(403, withheld());
const submitPath = '/v2/commands/submit-and-wait-for-transaction';
const committed = ok({ transaction: transactionValue(7) });

/** What a feed or a submission gets from a service that answers as the test says, and the calls of the provider. */
function play(
  answer: (request: ServiceRequest) => HttpResponse | undefined,
  token: Token,
  what: 'feed' | 'submission' | 'pushed' = 'feed',
) {
  return marbles(({ flush }) => {
    const calls: (string | undefined)[] = [];
    const provide: Token =
      typeof token === 'string'
        ? token
        : (refused) => {
            calls.push(refused);
            return token(refused);
          };
    const its = world({
      client: { token: provide },
      fault: (request) => answer(request) ?? (request.path === submitPath ? committed : undefined),
      socketFault: () => throwError(() => new Error('Unexpected server response: 403')),
    });
    const diagnostics: Diagnostic[] = [];
    its.client.diagnostics$.subscribe((diagnostic) => diagnostics.push(diagnostic));
    fill(its.ledger, 1);
    const submission$ = its.client.submitAndWaitForTransaction({
      actAs: ['alice::1220ab'],
      commands: [{ CreateCommand: { templateId: '#assets:Main:Asset', createArguments: {} } }],
    });
    const feed$ = its.feed({}, what === 'pushed' ? its.websocket : {});
    const seen = observe<object>((what === 'submission' ? submission$ : feed$).pipe(takeUntil(timer(20_000))));
    flush();
    return {
      seen,
      calls,
      diagnostics,
      requests: its.service.requests,
      sent: its.service.requests.map((each) => each.token),
    };
  });
}

/** Tokens that end now and in five minutes, in virtual time. */
const [ended, fresh] = [jwt({ exp: 0 }), jwt({ exp: 300 })];
const replacing = (refused?: string): string => (refused === undefined ? ended : fresh);
const updatesPath = '/v2/updates/flats';

describe('a 403 without a code', () => {
  it.each(['feed', 'submission'] as const)('asks for another token if the token has ended: %s', (what) => {
    const { seen, calls, sent } = play(({ token }) => (token === ended ? forbidden : undefined), replacing, what);
    expect(seen.error).toBeUndefined();
    expect(seen.values).toHaveLength(1);
    expect(calls.slice(0, 2)).toEqual([undefined, ended]);
    expect(sent.slice(0, 2)).toEqual([ended, fresh]);
  });

  it('is tried again while a function returns a token that has just ended', () => {
    let calls = 0;
    const late = (): string => ((calls += 1) < 6 ? ended : fresh);
    const { seen } = play(({ token }) => (token === ended ? forbidden : undefined), late);
    expect(seen.error).toBeUndefined();
    expect(seen.values).toHaveLength(1);
  });

  it.each<[string, Token, number]>([
    ['with a valid token', () => fresh, 1],
    [
      'with another valid token each time',
      (
        (n) => () =>
          jwt({ exp: 300, n: (n += 1) })
      )(0),
      1,
    ],
    ['with a constant token that shows no end', 'opaque', 1],
    ['with the same token that shows no end', () => 'opaque', 1],
    [
      'with another token that shows no end',
      (
        (n) => () =>
          `opaque-${(n += 1)}`
      )(0),
      2,
    ],
  ])('is a missing right %s, and ends the feed immediately', (_, token, sent) => {
    const { seen, requests } = play(({ path }) => (path === updatesPath ? forbidden : undefined), token);
    expect(seen.error).toMatchObject({ _tag: 'ApiError', status: 403, missingRight: 'CanReadAs alice::1220ab' });
    expect(seen.endedAt).toBe(0);
    expect(requests.filter(({ path }) => path === updatesPath)).toHaveLength(sent);
  });

  it('is a missing right if another token gets it, too', () => {
    const { seen, sent } = play(({ path }) => (path === updatesPath ? forbidden : undefined), replacing);
    expect(seen.error).toMatchObject({ _tag: 'ApiError', missingRight: 'CanReadAs alice::1220ab' });
    expect(sent).toEqual([ended, ended, fresh]);
  });

  it('rejects a submission with a valid token, and names the right', () => {
    const { seen } = play(
      ({ path }) => (path === submitPath ? forbidden : undefined),
      () => fresh,
      'submission',
    );
    expect(seen.error).toMatchObject({
      _tag: 'SubmissionRejectedError',
      reason: 'authorization',
      message: expect.stringContaining('Missing right: CanActAs alice::1220ab'),
    });
  });

  it('does not show what the ledger did with a submission, if it is not from the ledger', () => {
    const gateway = errorReply(403, '<html>');
    const gone = errorReply(404, errorBody('CONTRACT_NOT_FOUND', 11));
    const submitWith = (...answers: HttpResponse[]) =>
      play(({ path }) => (path === submitPath ? answers.shift() : undefined), replacing, 'submission');
    const { seen, requests } = submitWith(gateway, committed);
    expect(seen).toMatchObject({ error: undefined, values: [{ offset: 7 }] });
    expect(requests.filter(({ path }) => path === submitPath)).toHaveLength(2);
    // the first may have been committed, and the contract may be gone for that reason
    expect(submitWith(gateway, gone, gone, gone).seen).toMatchObject({ error: undefined, values: [] });
  });

  it('of a gateway in place of a feed is about the token, too: the feed goes on at once with another one', () => {
    const gateway = errorReply(403, '<html>');
    const { seen, sent } = play(({ token }) => (token === ended ? gateway : undefined), replacing);
    expect(seen).toMatchObject({ error: undefined, values: [{ offset: 1 }] });
    expect(seen.times).toEqual([0]);
    expect(sent.slice(0, 2)).toEqual([ended, fresh]);
  });

  it('does not show what the ledger did, if the token ended in the middle of a submission', () => {
    const expired = errorReply(409, errorBody('ACCESS_TOKEN_EXPIRED', 2));
    const gone = errorReply(404, errorBody('CONTRACT_NOT_FOUND', 11));
    const answers = [expired, gone, gone, gone];
    const { seen } = play(({ path }) => (path === submitPath ? answers.shift() : undefined), replacing, 'submission');
    expect(seen).toMatchObject({ error: undefined, values: [] });
  });

  describe('to a token that shows no end', () => {
    /** Refuses the first request at the path, and has another token each time that one is refused. */
    const playRefusal = (what: 'feed' | 'submission', answer: HttpResponse) => {
      const path = what === 'feed' ? updatesPath : submitPath;
      let refusals = 0;
      const played = play(
        (request) => (request.path === path && (refusals += 1) === 1 ? answer : undefined),
        (refused) => (refused === undefined ? 'opaque-1' : 'opaque-2'),
        what,
      );
      return { ...played, tokens: played.requests.filter((each) => each.path === path).map(({ token }) => token) };
    };

    it.each([
      ['feed', errorReply(403, '<html>')],
      ['feed', forbidden],
      ['submission', forbidden],
    ] as const)('asks for another one, and goes on with it: %s', (what, answer) => {
      const { seen, tokens } = playRefusal(what, answer);
      expect(seen).toMatchObject({ error: undefined, values: [{}], times: [0] });
      expect(tokens.slice(0, 2)).toEqual(['opaque-1', 'opaque-2']);
    });

    it('is not said to have ended after the answer of a gateway to a submission', () => {
      const { calls, diagnostics } = playRefusal('submission', errorReply(403, '<html>'));
      expect(new Set(calls)).toEqual(new Set([undefined]));
      expect(JSON.stringify(diagnostics)).not.toContain('token has ended');
    });
  });

  it.each([
    [-100, 2],
    [14, 2],
    [16, 1],
  ])('asks for another token if that ends in %i s: sends %i tokens', (exp, sent) => {
    const ending = jwt({ exp });
    const { requests } = play(
      ({ path }) => (path === updatesPath ? forbidden : undefined),
      (refused) => (refused === undefined ? ending : fresh),
    );
    expect(requests.filter(({ path }) => path === updatesPath)).toHaveLength(sent);
  });

  it('with a code is not about the token', () => {
    const answer = errorReply(403, errorBody('PERMISSION_DENIED', 7));
    const { seen, calls } = play(
      ({ path }) => (path === updatesPath ? answer : undefined),
      () => ended,
    );
    expect(seen.error).toMatchObject({ _tag: 'ApiError', code: 'PERMISSION_DENIED' });
    expect(calls).toEqual([undefined, undefined]);
  });
});

describe('a 403 that names an invalid token or its user', () => {
  const unknown = (context: object): HttpResponse => errorReply(403, withheld(context));
  it.each<[string, HttpResponse]>([
    ['invalid token', unknown({ ledger_api_error: 'invalid token' })],
    ['Invalid Token', unknown({ ledger_api_error: 'Invalid Token' })],
    ['INVALID_TOKEN', unknown({ ledger_api_error: 'INVALID_TOKEN' })],
    ['unknown user', unknown({ ledger_api_error: "unknown user 'bob'" })],
    ['user not found', unknown({ ledger_api_error: "user 'bob' not found" })],
    ['USER_NOT_FOUND', errorReply(403, errorBody('USER_NOT_FOUND', 7))],
    ['user is deactivated', unknown({ cause: 'User bob is deactivated' })],
    ['a gateway', errorReply(403, '{"error":"invalid_token"}')],
  ])('says so, and advises no right: %s', (_, answer) => {
    for (const what of ['feed', 'pushed', 'submission'] as const) {
      const { seen } = play(
        () => answer,
        () => fresh,
        what,
      );
      const { message } = seen.error as Error;
      expect(message).toContain('check the user of the token');
      expect(message).not.toContain('ight');
      expect(seen.endedAt).toBe(0);
    }
  });
});

describe('a token function', () => {
  it('is called once for all requests that wait, and with the refused token', () => {
    marbles(({ flush }) => {
      const calls: (string | undefined)[] = [];
      const token = (refused?: string): Observable<string> => {
        calls.push(refused);
        return timer(100).pipe(map(() => (refused === undefined ? 'first' : 'second')));
      };
      const { client } = world({
        latencyMs: 5,
        client: { token },
        fault: (request) => (request.token === 'first' ? errorReply(401, '') : undefined),
      });
      const seen = Array.from({ length: 8 }, () => observe(client.ledgerEnd()));
      // waits for the second token, because the first is refused
      timer(150).subscribe(() => seen.push(observe(client.ledgerEnd())));
      flush();
      expect(seen.map(({ error, values }) => [error, values])).toEqual(
        Array.from({ length: 9 }, () => [undefined, [0]]),
      );
      expect(calls).toEqual([undefined, 'first']);
    });
  });

  it('that is late fails its request only, and its late failure does not matter', async () => {
    const late = new Promise<string>((_, reject) => {
      setTimeout(() => {
        reject(new Error('late'));
      }, 30);
    });
    const { client } = world({ client: { token: () => late, requestTimeoutMs: 5, retry: { giveUpAfterMs: 0 } } });
    const seen = await new Promise((resolve) => client.ledgerEnd().subscribe({ error: resolve }));
    expect(seen).toMatchObject({ _tag: 'TokenError', reason: 'the provider did not return one in time' });
    // an unhandled rejection would fail the test
    await new Promise((resolve) => setTimeout(resolve, 40));
  });

  it('whose error is shared gives each request its own error', () => {
    marbles(({ flush }) => {
      const token = (): Observable<string> => timer(10).pipe(concatMap(() => throwError(() => new Error('hush'))));
      const { client } = world({ client: { token } });
      const seen = [observe(client.ledgerEnd()), observe(client.ledgerEnd())];
      flush();
      expect(seen[0]?.error).toMatchObject({ _tag: 'TokenError', reason: 'the provider failed' });
      expect(seen[0]?.error).not.toBe(seen[1]?.error);
    });
  });

  it('that was accepted before is tried again, and fails when the time is used up', () => {
    marbles(({ flush }) => {
      let accepted = 3;
      const { client, feed } = world({
        client: { token: 'constant', retry: { giveUpAfterMs: 20_000 } },
        fault: () => ((accepted -= 1) >= 0 ? undefined : errorReply(401, '')),
      });
      const seen = observe(feed());
      flush();
      expect(client).toBeDefined();
      expect(seen.error).toMatchObject({ _tag: 'UnauthorizedError', mayPass: true, tokenChanged: false });
      expect(seen.endedAt).toBeGreaterThanOrEqual(20_000);
    });
  });
});
