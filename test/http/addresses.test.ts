import { describe, expect, it } from '@jest/globals';
import {
  asyncScheduler,
  concat,
  concatMap,
  defer,
  EMPTY,
  filter,
  NEVER,
  type Observable,
  of,
  takeUntil,
  throwError,
  timer,
} from 'rxjs';
import {
  acsDelta,
  type BaseUrl,
  createLedger,
  type Diagnostic,
  type HttpPort,
  isLedgerError,
  type LedgerOptions,
} from '../../src/index.js';
import { httpServer } from '../helpers/localServers.js';
import { observe, offsets } from '../helpers/observe.js';
import { socketOpen, scriptedSockets } from '../helpers/scripted.js';
import { itInVirtualTime, marbles } from '../helpers/time.js';
import { completion, errorBody, errorReply, ok, refusedConnection, transactionWith } from '../helpers/wire.js';
import { fill, upTo, world } from '../helpers/world.js';
import { socketTransport } from '../../src/ws/socketTransport.js';

/** How a server answers the ledger end: with its offset, or not at all. */
type Answer = (ms: number) => ReturnType<HttpPort>;

const end = (offset: number): Answer => {
  const reply = ok({ offset });
  return () => of(reply);
};
const refused: Answer = () => throwError(() => refusedConnection);

/** A ledger of servers by their host, and the hosts of its requests with their times. */
function ledgerOf(baseUrl: BaseUrl, servers: Readonly<Record<string, Answer>>, options: Partial<LedgerOptions> = {}) {
  const start = asyncScheduler.now();
  const requests: (readonly [number, string])[] = [];
  const port: HttpPort = ({ url }) =>
    defer(() => {
      const { host } = new URL(url);
      const ms = asyncScheduler.now() - start;
      requests.push([ms, host]);
      return servers[host]?.(ms) ?? EMPTY;
    });
  const ledger = createLedger({ baseUrl, port, ...options });
  const diagnostics: Diagnostic[] = [];
  ledger.diagnostics$.subscribe((diagnostic) => diagnostics.push(diagnostic));
  const moves = () =>
    diagnostics.flatMap(({ _tag, ...rest }) => (_tag === 'AddressChanged' ? [rest] : [])) as unknown as {
      from: string;
      to: string;
    }[];
  const hosts = (): string[] => requests.map(([, host]) => host);
  /** Reads the ledger end at each of these times. */
  const readAt = (...times: readonly number[]) =>
    times.map((ms) => observe(timer(ms).pipe(concatMap(() => ledger.ledgerEnd()))));
  return { ledger, requests, hosts, moves, readAt, diagnostics };
}

const list = ['http://one.example/api', 'http://two.example', 'http://three.example'] as const;

describe('a list of addresses', () => {
  itInVirtualTime('is used at its first one, as long as that answers', ({ flush }) => {
    const { readAt, hosts, moves } = ledgerOf(list, { 'one.example': end(7) });
    const reads = readAt(0, 60_000, 120_000);
    flush();
    expect(reads.map(({ values }) => values)).toEqual([[7], [7], [7]]);
    expect(new Set(hosts())).toEqual(new Set(['one.example']));
    expect(moves()).toEqual([]);
  });

  itInVirtualTime('goes to the next one after an outage of the time, and around, and says so', ({ flush }) => {
    const servers = { 'one.example': refused, 'two.example': refused, 'three.example': refused };
    const { readAt, requests, moves } = ledgerOf(list, servers, { nextAddressAfterMs: 10_000 });
    readAt(0, 9_999, 10_000, 19_999, 20_000, 30_000, 40_000);
    flush();
    expect(requests).toEqual([
      [0, 'one.example'],
      [9_999, 'one.example'],
      [10_000, 'two.example'],
      [19_999, 'two.example'],
      [20_000, 'three.example'],
      [30_000, 'one.example'],
      [40_000, 'two.example'],
    ]);
    expect(moves().slice(0, 2)).toMatchObject([
      { from: list[0], to: list[1] },
      { from: list[1], to: list[2] },
    ]);
  });

  itInVirtualTime('goes to the next one after ten seconds by default', ({ flush }) => {
    const { readAt, hosts } = ledgerOf(list, { 'one.example': refused, 'two.example': end(1) });
    readAt(0, 9_999, 10_000);
    flush();
    expect(hosts()).toEqual(['one.example', 'one.example', 'two.example']);
  });

  itInVirtualTime('stays where one request succeeds, though others fail', ({ flush }) => {
    const failsAt = [0, 9_000, 18_000, 27_000];
    const flaky: Answer = (ms) => (failsAt.includes(ms) ? refused(ms) : end(3)(ms));
    const { readAt, hosts } = ledgerOf(list, { 'one.example': flaky });
    readAt(0, 8_000, 9_000, 17_000, 18_000, 26_000, 27_000, 36_999);
    flush();
    expect(new Set(hosts())).toEqual(new Set(['one.example']));
  });

  itInVirtualTime('stays at the next one when the first returns, and after the next outage goes on', ({ flush }) => {
    const two: Answer = (ms) => (ms < 50_000 ? end(4)(ms) : refused(ms));
    const servers = { 'one.example': (ms: number) => (ms < 11_000 ? refused(ms) : end(3)(ms)), 'two.example': two };
    const { readAt, hosts } = ledgerOf(list.slice(0, 2) as unknown as BaseUrl, servers);
    readAt(0, 10_000, 40_000, 50_000, 60_000);
    flush();
    expect(hosts()).toEqual(['one.example', 'two.example', 'two.example', 'two.example', 'one.example']);
  });

  itInVirtualTime('counts the time without a response, not only that after a timeout', ({ flush }) => {
    const { readAt, hosts } = ledgerOf(list, { 'one.example': () => NEVER, 'two.example': end(1) });
    const [, second] = readAt(0, 30_001);
    flush();
    // the first one has timed out after 30 seconds
    expect(hosts()).toEqual(['one.example', 'two.example']);
    expect(second?.values).toEqual([1]);
  });

  itInVirtualTime('does not blame an address for a request to the one before', ({ flush }) => {
    const servers: Record<string, Answer> = {
      'one.example': (ms) => (ms === 9_000 ? timer(20_000).pipe(concatMap(() => refused(0))) : refused(ms)),
      'two.example': end(5),
    };
    const { readAt, hosts } = ledgerOf(list, servers);
    // the late failure at 29 000 is that of one.example
    readAt(0, 9_000, 10_000, 20_000, 39_000, 40_000);
    flush();
    expect(hosts().slice(2)).toEqual(['two.example', 'two.example', 'two.example', 'two.example']);
  });

  describe.each<[string, Answer, boolean]>([
    ['a refusal of the ledger', () => of(errorReply(400, errorBody('INVALID_ARGUMENT', 8))), false],
    ['a refused token', () => of(errorReply(401, '')), false],
    ['a participant that stops', () => of(errorReply(503, errorBody('SERVICE_NOT_RUNNING', 1))), true],
    ['a gateway without a participant', () => of(errorReply(502, '<html>Bad Gateway</html>')), true],
  ])('with %s', (_, answer, isOutage) => {
    itInVirtualTime(isOutage ? 'goes to the next one' : 'stays', ({ flush }) => {
      const { readAt, hosts } = ledgerOf(list, { 'one.example': answer, 'two.example': end(1) });
      readAt(0, 10_000);
      flush();
      expect(hosts().at(-1)).toBe(isOutage ? 'two.example' : 'one.example');
    });
  });

  itInVirtualTime(
    'leads a feed to the next one within its retries, also if the first was never reached',
    ({ flush }) => {
      const there = world({ latencyMs: 5 });
      fill(there.ledger, 1, 2, 3);
      const port: HttpPort = (request) =>
        request.url.startsWith('http://one.example/')
          ? throwError(() => refusedConnection)
          : there.service.port(request);
      const ledger = createLedger({ baseUrl: ['http://one.example', 'http://two.example'], port });
      const seen = observe(
        ledger.updates({ beginExclusive: 0, endInclusive: 3, updateFormat: acsDelta({ parties: 'any' }) }),
      );
      flush();
      expect(offsets(seen.values)).toEqual([1, 2, 3]);
      // ten seconds, and the longest delay after a refused connection
      expect(seen.endedAt).toBeLessThan(16_000);
    },
  );

  itInVirtualTime('ends the socket of the address before', ({ flush }) => {
    const there = world({ latencyMs: 5 });
    fill(there.ledger, 1);
    const opened: string[] = [];
    const sockets = scriptedSockets(() => concat(of(socketOpen), NEVER));
    let isDown = false;
    const port: HttpPort = (request) =>
      isDown && request.url.startsWith('http://one.example/')
        ? throwError(() => refusedConnection)
        : there.service.port(request);
    const transport = socketTransport((request) => {
      opened.push(new URL(request.url).host);
      return sockets.port(request);
    });
    const ledger = createLedger({ baseUrl: ['http://one.example', 'http://two.example'], port, transport });
    const closed: string[] = [];
    ledger.diagnostics$.subscribe((diagnostic) => {
      if (diagnostic._tag === 'SocketClosed') closed.push(diagnostic.cause.message);
    });
    const feed = ledger
      .updates({ beginExclusive: 0, updateFormat: acsDelta({ parties: 'any' }) })
      .subscribe({ error: () => undefined });
    timer(1_000).subscribe(() => {
      isDown = true;
    });
    for (const ms of [2_000, 12_000]) observe(timer(ms).pipe(concatMap(() => ledger.ledgerEnd())));
    timer(12_010).subscribe(() => {
      feed.unsubscribe();
    });
    flush();
    expect(opened[0]).toBe('one.example');
    expect(closed).toEqual([expect.stringContaining('the ledger has another address now')]);
  });
});

describe('a function as the address', () => {
  itInVirtualTime('is called before every request, and may be asynchronous', ({ flush }) => {
    let count = 0;
    const baseUrl = (): Observable<string> =>
      timer(5).pipe(concatMap(() => [(count += 1) < 3 ? 'http://one.example/' : 'http://two.example']));
    const { readAt, hosts, moves } = ledgerOf(baseUrl, { 'one.example': end(1), 'two.example': end(2) });
    const reads = readAt(0, 1_000, 2_000, 3_000);
    flush();
    expect(reads.map(({ values }) => values[0])).toEqual([1, 1, 2, 2]);
    expect(hosts()).toEqual(['one.example', 'one.example', 'two.example', 'two.example']);
    expect(moves()).toMatchObject([{ from: 'http://one.example', to: 'http://two.example' }]);
  });

  itInVirtualTime('fails the request if it fails, returns no address or takes too long', ({ flush }) => {
    const secret = 'pa55word';
    const cases: readonly (readonly [() => string | Observable<string>, string])[] = [
      [
        () => {
          throw new Error(secret);
        },
        'the function baseUrl failed',
      ],
      [() => throwError(() => new Error(secret)), 'the function baseUrl failed'],
      [() => `http://user:${secret}@one.example`, 'without credentials'],
      [() => NEVER, 'returned no address in time'],
      [() => EMPTY, 'returned no address in time'],
    ];
    const seen = cases.map(([baseUrl]) => ledgerOf(baseUrl, {}).readAt(0)[0]);
    flush();
    for (const [index, record] of seen.entries()) {
      const { error } = record ?? {};
      expect(isLedgerError(error, 'ConnectionError') && !error.isPermanent).toBe(true);
      expect(String(error)).toContain(cases[index]?.[1]);
      expect(String(error)).not.toContain(secret);
    }
  });
});

describe('a feed whose requests go to the addresses of one participant in turn', () => {
  it.each([0, 7])('emits each update once, and at once (after %d)', (beginExclusive) => {
    marbles(({ flush }) => {
      const { ledger, service } = world({ latencyMs: 20, participantId: 'one::1220', earlyCheckpointMs: 500 });
      fill(ledger, ...upTo(300));
      ledger.end = 400;
      let count = 0;
      const baseUrl = (): string => `http://host${(count += 1) % 3}.example`;
      const feed$ = createLedger({ baseUrl, port: service.port }).updates({
        beginExclusive,
        updateFormat: acsDelta({ parties: 'any' }),
      });
      const seen = observe(
        feed$.pipe(
          filter(({ _tag }) => _tag !== 'OffsetCheckpoint'),
          takeUntil(timer(60_000)),
        ),
      );
      for (const n of upTo(20))
        timer(5_000 + 1_500 * n).subscribe(() => {
          fill(ledger, 400 + n);
        });
      flush();
      const all = [...upTo(300), ...upTo(20).map((n) => 400 + n)];
      expect(offsets(seen.values)).toEqual(all.filter((offset) => offset > beginExclusive));
      const delays = seen.times.slice(-20).map((ms, index) => ms - 5_000 - 1_500 * (index + 1));
      expect(Math.max(...delays)).toBeLessThan(250);
    });
  });
});

describe('a feed whose address leads to another participant without an outage', () => {
  /** Reads a ledger until half a minute after its address leads to the other one, at the same offsets. */
  const follow = (
    known: number,
    movesAt: number,
    read: (ledger: ReturnType<typeof createLedger>) => Observable<{ readonly _tag: string; readonly offset: number }>,
    elementAt: (offset: number, changes: object) => object = transactionWith,
  ) =>
    marbles(({ flush }) => {
      const one = world({ latencyMs: 50, participantId: 'one::1220' });
      const two = world({ latencyMs: 50, participantId: 'two::1220' });
      for (const offset of upTo(known)) one.ledger.append(offset, elementAt(offset, { updateId: `one${offset}` }));
      for (const offset of upTo(known + 9)) two.ledger.append(offset, elementAt(offset, { updateId: `two${offset}` }));
      let baseUrl = 'http://one.example';
      const port: HttpPort = (request) =>
        (request.url.startsWith('http://one.example/') ? one : two).service.port(request);
      const seen = observe(
        read(createLedger({ baseUrl: () => baseUrl, port })).pipe(takeUntil(timer(30_000 + movesAt))),
      );
      timer(movesAt).subscribe(() => {
        baseUrl = 'http://two.example';
      });
      flush();
      return seen;
    });
  const updateFormat = acsDelta({ parties: 'any' });

  it.each<[string, number, number, number]>([
    ['if it has read nothing yet', 10, 10, 12_000],
    ['while it reads ranges ahead', 0, 5_000, 189],
  ])('emits nothing of that one %s', (_, beginExclusive, known, movesAt) => {
    const seen = follow(known, movesAt, (ledger) => ledger.updates({ beginExclusive, updateFormat }));
    expect(JSON.stringify(seen.values)).not.toContain('two');
    expect(seen.error).toMatchObject({ _tag: 'LedgerResetError', reason: 'anotherLedger' });
  });

  it('emits no completion of that one', () => {
    const seen = follow(
      10,
      12_000,
      (ledger) => ledger.completions({ parties: ['alice::1220ab'], beginExclusive: 0 }),
      completion,
    );
    expect(offsets(seen.values)).toEqual(upTo(10));
    expect(seen.error).toMatchObject({ _tag: 'LedgerResetError', reason: 'anotherLedger' });
  });
});

describe('the options of addresses', () => {
  it.each<[Partial<LedgerOptions>]>([
    [{ baseUrl: [] as unknown as BaseUrl }],
    [{ baseUrl: ['http://one.example', 'two.example'] }],
    [{ baseUrl: ['http://one.example', 'http://user:word@two.example'] }],
    [{ baseUrl: [...list], nextAddressAfterMs: -1 }],
    [{ baseUrl: [...list], nextAddressAfterMs: Number.NaN }],
  ])('are checked at once: %j', (options) => {
    expect(() => createLedger({ baseUrl: list[0], ...options })).toThrow(TypeError);
  });
});

describe('requests over HTTP', () => {
  it('go to the second server with the token once the first is down, and to no other host', async () => {
    const tokens: string[] = [];
    const two = await httpServer((request, response) => {
      tokens.push(String(request.headers.authorization));
      response.setHeader('content-type', 'application/json').end('{"offset":9}');
    });
    const one = await httpServer((_, response) => response.end('{"offset":8}'));
    const ledger = createLedger({ baseUrl: [one.url, two.url], token: 'secret-token', nextAddressAfterMs: 0 });
    const read = (): Promise<number | undefined> =>
      new Promise((resolve) => {
        ledger.ledgerEnd().subscribe({
          next: resolve,
          error: () => {
            resolve(undefined);
          },
        });
      });
    expect(await read()).toBe(8);
    await one.close();
    expect([await read(), await read()]).toEqual([undefined, 9]);
    expect(tokens).toEqual(['Bearer secret-token']);
  });
});
