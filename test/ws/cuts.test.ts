import type { Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { filter, lastValueFrom, map, take, toArray } from 'rxjs';
import { ledgerEffects } from '../../src/codecs/formats.js';
import { createLedger } from '../../src/ledger/createLedger.js';
import { startSandbox } from '../../src/sandbox/index.js';
import { valueOf } from '../../src/sandbox/wire/events.js';
import { wsPort } from '../../src/ws/wsPort.js';
import { tcpProxy } from '../helpers/tcpProxy.js';

const updates = 600;
/** Of what the service sends in a socket, at most so much gets through. */
const most = 6_000;
/** In pieces of so many bytes, so that frames come torn. */
const piece = 700;

/** Passes on what goes through, and cuts each WebSocket behind so many bytes, in the middle of a frame or not. */
function cutting(client: Socket, server: Socket, bytes: number, onCut: () => void): void {
  let isUpgrade = false;
  let left = bytes;
  client.on('data', (data) => {
    isUpgrade ||= data.toString('latin1').includes('Upgrade: websocket');
    server.write(data);
  });
  server.on('data', (data) => {
    const passed = isUpgrade ? data.subarray(0, left) : data;
    for (let at = 0; at < passed.length; at += piece) client.write(passed.subarray(at, at + piece));
    if (!isUpgrade) return;
    left -= passed.length;
    if (left > 0) return;
    onCut();
    if (bytes % 2 === 0) client.resetAndDestroy();
    else client.end();
    server.destroy();
  });
}

describe('a feed by WebSocket', () => {
  it('sees each update once and in order, wherever its sockets are cut', async () => {
    let cuts = 0;
    const sandbox = await startSandbox();
    const proxy = await tcpProxy(sandbox.url, (client, server) => {
      cutting(client, server, 1 + Math.floor(Math.random() * most), () => (cuts += 1));
    });
    const ledger = createLedger({ baseUrl: new URL(proxy.url).origin, webSocket: wsPort() });
    const request = { beginExclusive: 0, updateFormat: ledgerEffects({ parties: 'any' }) };
    const growing = setInterval(() => {
      sandbox.generate(2);
    }, 15);
    try {
      const seen = await lastValueFrom(
        ledger.updates(request, { transport: 'websocket', idleTimeoutMs: 50 }).pipe(
          filter(({ _tag }) => _tag !== 'OffsetCheckpoint'),
          map(({ offset }) => offset),
          take(updates),
          toArray(),
        ),
      );
      expect(seen).toEqual(sandbox.updates.slice(0, updates).map((update) => valueOf(update).offset));
      expect(cuts).toBeGreaterThan(0);
    } finally {
      clearInterval(growing);
      proxy.close();
      await sandbox.close();
    }
  });
});
