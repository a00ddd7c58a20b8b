import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { filter, lastValueFrom, map, take, takeUntil, timer, toArray, type Observable } from 'rxjs';
import { ledgerEffects } from '../../src/codecs/UpdateFormat.js';
import type { Update } from '../../src/codecs/Update.js';
import type { Diagnostic } from '../../src/diagnostics/Diagnostic.js';
import { createLedger } from '../../src/ledger/createLedger.js';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/index.js';
import { updateValue } from '../../src/sandbox/wire/WireUpdate.js';
import { webSocketTransport, type WebSocketTransportOptions } from '../../src/ws/index.js';
import type { PageResult } from './page.js';
import { repeatIfStalled } from '../helpers/time.js';
import { itInChromium, runInChromium } from '../helpers/browser.js';

const token = 'TOKEN-SECRET-1';
let sandbox: Sandbox;
let events: Diagnostic[];

const start = async (options: SandboxOptions = {}): Promise<void> => {
  sandbox = await startSandbox({ checkToken: (received) => received === token, ...options });
  sandbox.generate(20);
};
beforeEach(() => {
  events = [];
});
afterEach(() => sandbox.close());

/** A feed by the sockets of `ws`. An update is committed when each of the first `commits` sockets opens. */
function feed(commits: number, options: WebSocketTransportOptions = {}): Observable<Update> {
  const ledger = createLedger({ baseUrl: sandbox.url, token, transport: webSocketTransport(options) });
  ledger.diagnostics$.subscribe((event) => {
    events.push(event);
    if (event._tag === 'SocketOpened' && count('SocketOpened') <= commits) sandbox.generate(1);
  });
  const request = { beginExclusive: 0, updateFormat: ledgerEffects({ parties: 'any' }) };
  return ledger.updates(request, { idleTimeoutMs: 100 }).pipe(filter(({ _tag }) => _tag !== 'OffsetCheckpoint'));
}

const count = (tag: Diagnostic['_tag']): number => events.filter(({ _tag }) => _tag === tag).length;
const committed = (): number[] => sandbox.updates.map((update) => updateValue(update).offset);

/** The offsets that a feed emits: those of the 20 first updates, and those of the updates committed after them. */
const read = (commits: number): Promise<number[]> =>
  lastValueFrom(
    feed(commits).pipe(
      map(({ offset }) => offset),
      take(20 + commits),
      toArray(),
    ),
  );

describe('a feed by the sockets of ws', () => {
  it('receives each update when it is committed, and closes the socket when it is unsubscribed', async () => {
    await start();
    expect(await read(1)).toEqual(committed());
    const isClosed = (): boolean => sandbox.requests.some(({ status, aborted }) => status === 101 && aborted);
    while (!isClosed()) await new Promise((resolve) => setImmediate(resolve));
    expect(count('PollSent')).toBe(1);
  });

  it('keeps an idle socket open with pings, which the service would close otherwise', async () => {
    const idleMs = 500;
    await start({ webSocketIdleMs: idleMs, earlyCheckpointMs: false });
    const seen = await repeatIfStalled(idleMs / 2, async () => {
      events = [];
      await lastValueFrom(feed(0, { pingEveryMs: 50 }).pipe(takeUntil(timer(3 * idleMs))));
      return [count('SocketOpened'), count('SocketClosed')];
    });
    expect(seen).toEqual([1, 0]);
  });

  it('reports no secret', async () => {
    await start();
    sandbox.fault({ kind: 'socket', how: 'error', body: { code: 'NA', cause: token, errorCategory: -1 } });
    sandbox.fault({ kind: 'socket', how: 'refuse', status: 403, body: token });
    await read(1);
    expect(count('SocketClosed')).toBeGreaterThan(0);
    expect(JSON.stringify(events)).not.toContain('SECRET');
  });
});

describe('in Chromium', () => {
  itInChromium("a feed by the browser's own WebSocket sends its token, and receives each update", async () => {
    await start({ cors: true });
    const committing = setInterval(() => {
      if (sandbox.requests.some(({ status }) => status === 101)) sandbox.generate(1);
    }, 20);
    try {
      const module = join(import.meta.dirname, 'page.ts');
      const seen = await runInChromium<PageResult>(module, `#${new URLSearchParams({ url: sandbox.url, token })}`);
      expect(seen.offsets).toEqual(committed().slice(0, seen.offsets.length));
      expect(seen.offsets).toHaveLength(30);
      expect(seen.tags).toContain('SocketOpened');
      expect(seen.tags).not.toContain('SocketClosed');
    } finally {
      clearInterval(committing);
    }
  });
});
