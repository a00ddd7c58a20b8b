import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { filter, lastValueFrom, map, take, takeUntil, timer, toArray, type Observable } from 'rxjs';
import { ledgerEffects } from '../../src/codecs/formats.js';
import type { Update } from '../../src/codecs/Update.js';
import type { Diagnostic } from '../../src/diagnostics/Diagnostic.js';
import { createLedger } from '../../src/ledger/createLedger.js';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/index.js';
import { valueOf } from '../../src/sandbox/wire/events.js';
import { wsPort, type WsPortOptions } from '../../src/ws/wsPort.js';
import { attentively } from '../helpers/attentively.js';
import { inChromium, itInChromium } from '../helpers/inChromium.js';
import type { SeenInBrowser } from './inBrowser.js';

const token = 'TOKEN-SECRET-1';
let sandbox: Sandbox;
let events: Diagnostic[];

const start = async (options: SandboxOptions = {}): Promise<void> => {
  sandbox = await startSandbox({ checkToken: (given) => given === token, ...options });
  sandbox.generate(20);
};
beforeEach(() => {
  events = [];
});
afterEach(() => sandbox.close());

/** A feed by the sockets of `ws`; an update is committed once a socket is open, of the first so many. */
function feed(growths: number, port: WsPortOptions = {}, beginExclusive = 0): Observable<Update> {
  const ledger = createLedger({ baseUrl: sandbox.url, token, webSocket: wsPort(port) });
  ledger.diagnostics$.subscribe((event) => {
    events.push(event);
    if (event._tag === 'SocketOpened' && count('SocketOpened') <= growths) sandbox.generate(1);
  });
  const request = { beginExclusive, updateFormat: ledgerEffects({ parties: 'any' }) };
  return ledger
    .updates(request, { transport: 'websocket', idleTimeoutMs: 100 })
    .pipe(filter(({ _tag }) => _tag !== 'OffsetCheckpoint'));
}

const count = (tag: Diagnostic['_tag']): number => events.filter(({ _tag }) => _tag === tag).length;
const all = (): number[] => sandbox.updates.map((update) => valueOf(update).offset);

/** The offsets of what is there at first and of what is committed then. */
const grown = (growths: number, port?: WsPortOptions): Promise<number[]> =>
  lastValueFrom(
    feed(growths, port).pipe(
      map(({ offset }) => offset),
      take(20 + growths),
      toArray(),
    ),
  );

describe('a feed by the sockets of ws, of a real service', () => {
  it('gets each update as it is committed, and closes the socket when it is unsubscribed', async () => {
    await start();
    expect(await grown(1)).toEqual(all());
    const isClosed = (): boolean => sandbox.requests.some(({ status, aborted }) => status === 101 && aborted);
    while (!isClosed()) await new Promise((resolve) => setImmediate(resolve));
    expect(count('PollSent')).toBe(1);
  });

  it('keeps an idle socket by its pings, where the service would cut it', async () => {
    const idleMs = 500;
    await start({ webSocketIdleMs: idleMs, earlyCheckpointMs: false });
    const seen = await attentively(idleMs / 2, async () => {
      events = [];
      await lastValueFrom(feed(0, { pingEveryMs: 50 }).pipe(takeUntil(timer(3 * idleMs))));
      return [count('SocketOpened'), count('SocketClosed')];
    });
    expect(seen).toEqual([1, 0]);
  });

  it('opens another where the service has cut an idle one, and misses nothing', async () => {
    await start({ webSocketIdleMs: 60, earlyCheckpointMs: 10 });
    expect(await grown(3, { pingEveryMs: 10_000 })).toEqual(all());
    expect(count('SocketClosed')).toBeGreaterThan(0);
  });

  it('goes on by HTTP where a socket is half open, once that finds an update that it has not brought', async () => {
    await start();
    sandbox.fault({ kind: 'socket', how: 'silence' });
    expect(await grown(1)).toEqual(all());
    const closed = events.find(({ _tag }) => _tag === 'SocketClosed');
    expect(closed).toMatchObject({ cause: { reason: 'the socket kept back what there is' } });
  });

  it('goes over to the other path where 3.6 says so in the socket', async () => {
    await start({ profile: '3.6' });
    // there is nothing to catch up on, by which it would have been found out
    await lastValueFrom(feed(2, {}, sandbox.ledgerEnd).pipe(take(2)));
    expect(events.filter(({ _tag }) => _tag === 'SocketOpened').map((event) => 'path' in event && event.path)).toEqual([
      '/v2/updates/flats',
      '/v2/updates',
    ]);
  });

  it('tells why there was none', async () => {
    await start();
    sandbox.fault({ kind: 'socket', how: 'refuse', status: 404, body: 'no sockets here' });
    await grown(1);
    expect(events.find(({ _tag }) => _tag === 'SocketClosed')).toMatchObject({
      cause: { _tag: 'ConnectionError', reason: 'the upgrade was answered with 404' },
    });
  });

  it('tells no secret of it', async () => {
    await start();
    sandbox.fault({ kind: 'socket', how: 'error', body: { code: 'NA', cause: token, errorCategory: -1 } });
    sandbox.fault({ kind: 'socket', how: 'refuse', status: 403, body: token });
    await grown(1);
    expect(count('SocketClosed')).toBeGreaterThan(0);
    expect(JSON.stringify(events)).not.toContain('SECRET');
  });
});

describe('in Chromium', () => {
  itInChromium("a feed by the platform's own WebSocket sends its token, and sees each update", async () => {
    await start({ cors: true });
    const growingHere = setInterval(() => {
      if (sandbox.requests.some(({ status }) => status === 101)) sandbox.generate(1);
    }, 20);
    try {
      const module = join(import.meta.dirname, 'inBrowser.ts');
      const seen = await inChromium<SeenInBrowser>(module, `#${new URLSearchParams({ url: sandbox.url, token })}`);
      expect(seen.offsets).toEqual(all().slice(0, seen.offsets.length));
      expect(seen.offsets).toHaveLength(30);
      expect(seen.tags).toContain('SocketOpened');
      expect(seen.tags).not.toContain('SocketClosed');
    } finally {
      clearInterval(growingHere);
    }
  });
});
