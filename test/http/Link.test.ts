import { describe, expect, it, jest } from '@jest/globals';
import { asyncScheduler, concat, EMPTY, lastValueFrom, type Observable, of, takeUntil, timer } from 'rxjs';
import type { Diagnostic } from '../../src/diagnostics/Diagnostic.js';
import { observe, offsets } from '../helpers/observe.js';
import { fill, updateFormat, upTo, world, type WorldOptions } from '../helpers/world.js';
import { isLedgerError, isTransient, type Ledger } from '../../src/index.js';
import { memoryStore, processFeed, updatesFeed } from '../../src/process/index.js';
import { itInVirtualTime, marbles } from '../helpers/time.js';
import { errorBody, errorReply } from '../helpers/wire.js';
import { socketEnd, socketOpen, socketText } from '../helpers/scripted.js';

const unauthorized = errorReply(401, '');

/** A provider that returns another token each time. */
const rotating = () => {
  let n = 0;
  return () => `rotated-${(n += 1)}`;
};

/** A world with a provider of its own, whose service refuses every token while `isRefused` says so. */
function refusing(isRefused: (ms: number) => boolean, { client, ...options }: WorldOptions = {}) {
  const start = asyncScheduler.now();
  const refusedNow = (): boolean => isRefused(asyncScheduler.now() - start);
  const its = world({
    latencyMs: 5,
    client: { token: rotating(), ...client },
    fault: () => (refusedNow() ? unauthorized : undefined),
    socketFault: () =>
      refusedNow()
        ? concat(
            of(socketOpen, socketText({ ...errorBody('UNAUTHENTICATED', 6), grpcCodeValue: 16 })),
            of(socketEnd(1000)),
          )
        : undefined,
    ...options,
  });
  const diagnostics: Diagnostic[] = [];
  its.client.diagnostics$.subscribe((diagnostic) => diagnostics.push(diagnostic));
  const delays = (): number[] =>
    diagnostics.flatMap((diagnostic) => (diagnostic._tag === 'RetryScheduled' ? [diagnostic.delayMs] : []));
  return { ...its, diagnostics, delays };
}

describe('a single request whose tokens are refused, though the provider returns another each time', () => {
  it.each<[string, (client: Ledger) => Observable<unknown>]>([
    ['ledgerEnd', (client) => client.ledgerEnd()],
    [
      'prepare',
      (client) =>
        client.prepare({
          commandId: 'c-1',
          actAs: ['alice::1220ab'],
          commands: [{ CreateCommand: { templateId: '#assets:Main:Asset', createArguments: {} } }],
        }),
    ],
  ])('fails after the second one, with an error that a caller may retry: %s', (_, send) => {
    marbles(({ flush }) => {
      const { service, client, delays } = refusing(() => true);
      const seen = observe(send(client));
      flush();
      expect(seen.error).toMatchObject({ _tag: 'UnauthorizedError', tokenChanged: true });
      expect(isLedgerError(seen.error) && isTransient(seen.error)).toBe(true);
      expect(service.requests.map(({ token }) => token)).toEqual(['rotated-1', 'rotated-2']);
      expect(delays()).toEqual([]);
    });
  });
});

describe('a request that is refused', () => {
  it.each<[string, object, string]>([
    ['requires a token, and none was sent', { token: undefined }, 'requires a token, and none was sent.'],
    ['refuses the token of the provider', { token: 'abc' }, 'refuses the token.'],
    [
      'refuses the token of the headers',
      { token: undefined, headers: { Authorization: 'Bearer x' } },
      'refuses the token.',
    ],
  ])('says whether the participant %s', (_, client, fact) => {
    marbles(({ flush }) => {
      const seen = observe(refusing(() => true, { client }).client.ledgerEnd());
      flush();
      expect(String(seen.error)).toContain(` ${fact}\n`);
    });
  });
});

describe('a processor', () => {
  it('does not start while the participant refuses every token for its id', async () => {
    const { ledger, client } = refusing(() => false, {
      latencyMs: 0,
      client: { retry: { baseDelayMs: 1, maxDelayMs: 1, giveUpAfterMs: 10 } },
      fault: ({ path }) => (path.endsWith('/participant-id') ? unauthorized : undefined),
    });
    fill(ledger, 1, 2, 3);
    const handle = jest.fn(() => EMPTY);
    const options = { name: 'balances', store: memoryStore() };
    await expect(
      lastValueFrom(processFeed(updatesFeed(client, { beginExclusive: 0, updateFormat }), handle, options)),
    ).rejects.toMatchObject({ _tag: 'UnauthorizedError', path: '/v2/parties/participant-id', tokenChanged: true });
    expect(handle).not.toHaveBeenCalled();
  });
});

describe('a feed whose tokens are refused, though the provider returns another each time', () => {
  itInVirtualTime('retries with back-off, and loses nothing (G16)', ({ flush }) => {
    const { ledger, service, feed, delays } = refusing((ms) => ms < 60_000);
    fill(ledger, ...upTo(300));
    const seen = observe(feed().pipe(takeUntil(timer(200_000))));
    flush();
    expect(seen.error).toBeUndefined();
    expect(offsets(seen.values)).toEqual(upTo(300));
    expect(delays().length).toBeGreaterThan(3);
    const refused = service.requests.slice(0, 2 * delays().length);
    expect(new Set(refused.map(({ token }) => token)).size).toBe(refused.length);
  });

  itInVirtualTime('fails with an UnauthorizedError when the retry budget is used up (G16)', ({ flush }) => {
    const retry = { baseDelayMs: 100, maxDelayMs: 2_000, giveUpAfterMs: 20_000 };
    const { service, feed, delays } = refusing(() => true, { client: { retry } });
    const seen = observe(feed());
    flush();
    expect(seen.error).toMatchObject({
      _tag: 'UnauthorizedError',
      tokenChanged: true,
      path: '/v2/state/ledger-end',
      retried: { times: delays().length },
    });
    // a sum of random delays is not exact
    expect(seen.endedAt).toBeGreaterThan(19_999);
    expect(seen.endedAt).toBeLessThan(20_100);
    // each attempt sends two tokens
    expect(service.requests).toHaveLength(2 * (delays().length + 1));
    expect(`${String(seen.error)}${JSON.stringify(seen.error)}`).not.toContain('rotated');
  });

  itInVirtualTime('fails at once when the policy never retries', ({ flush }) => {
    const { service, feed } = refusing(() => true, { client: { retry: { giveUpAfterMs: 0 } } });
    const seen = observe(feed());
    flush();
    expect(seen.error).toMatchObject({ _tag: 'UnauthorizedError', tokenChanged: true });
    expect(service.requests).toHaveLength(2);
  });

  itInVirtualTime('fails at once when the provider returns a refused token again', ({ flush }) => {
    const tokens = ['a', 'b', 'c', 'd', 'e', 'e'];
    const token = () => tokens.shift() ?? 'none';
    const { service, feed, delays } = refusing(() => true, { client: { token } });
    const seen = observe(feed());
    flush();
    expect(seen.error).toMatchObject({ _tag: 'UnauthorizedError', tokenChanged: false });
    expect(seen.error).not.toHaveProperty('retried');
    expect(service.requests.map(({ token: sent }) => sent)).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(delays()).toHaveLength(2);
  });

  itInVirtualTime('continues with a token that is accepted after it was refused', ({ flush }) => {
    // valid from a minute on, as the clock of the service says
    const { ledger, feed } = refusing((ms) => ms < 60_000, {
      client: {
        token: (() => {
          let n = 0;
          return () => ['even', 'odd'][(n += 1) % 2] ?? '';
        })(),
      },
    });
    fill(ledger, ...upTo(10));
    const seen = observe(feed().pipe(takeUntil(timer(200_000))));
    flush();
    expect(seen.error).toBeUndefined();
    expect(offsets(seen.values)).toEqual(upTo(10));
  });

  describe('by WebSocket', () => {
    itInVirtualTime('fails when the retry budget is used up, too', ({ flush }) => {
      const { ledger, service, sockets, websocket, feed } = refusing((ms) => ms >= 20_000);
      fill(ledger, ...upTo(50));
      timer(20_000).subscribe(() => {
        ledger.disconnect();
      });
      const seen = observe(feed({}, websocket));
      flush();
      expect(offsets(seen.values)).toEqual(upTo(50));
      expect(seen.error).toMatchObject({ _tag: 'UnauthorizedError', tokenChanged: true });
      // a sum of random delays is not exact
      expect(seen.endedAt).toBeGreaterThan(319_999);
      expect(seen.endedAt).toBeLessThan(340_000);
      expect(service.requests.length + sockets.requests.length).toBeLessThan(120);
    });

    itInVirtualTime('polls while only the sockets refuse the tokens', ({ flush }) => {
      const { ledger, sockets, websocket, feed } = refusing(() => true, { fault: () => undefined });
      for (const n of upTo(100))
        timer(10_000 * n).subscribe(() => {
          fill(ledger, n);
        });
      const seen = observe(feed({}, websocket).pipe(takeUntil(timer(1_100_000))));
      flush();
      expect(seen.error).toBeUndefined();
      expect(offsets(seen.values)).toEqual(upTo(100));
      expect(sockets.requests.length).toBeLessThan(40);
    });
  });
});
