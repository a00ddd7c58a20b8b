import type { Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { filter, lastValueFrom, map, take, toArray } from 'rxjs';
import { ledgerEffects } from '../../src/codecs/UpdateFormat.js';
import { createLedger } from '../../src/ledger/createLedger.js';
import { startSandbox } from '../../src/sandbox/index.js';
import { updateValue } from '../../src/sandbox/wire/WireUpdate.js';
import { webSocketTransport } from '../../src/ws/index.js';
import { effort } from '../helpers/effort.js';
import { tcpProxy } from '../helpers/localServers.js';

const updates = effort(150, 600);
/** The most bytes of the service that pass in one socket. */
const maxBytes = 6_000;
/** The bytes are forwarded in pieces of this size, so that frames are split. */
const pieceBytes = 700;

/** Forwards a connection, and cuts it after a number of bytes if it is a WebSocket, even in the middle of a frame. */
function forwardAndCut(client: Socket, server: Socket, bytes: number, onCut: () => void): void {
  let isUpgrade = false;
  let left = bytes;
  client.on('data', (data) => {
    isUpgrade ||= data.toString('latin1').includes('Upgrade: websocket');
    server.write(data);
  });
  server.on('data', (data) => {
    const passed = isUpgrade ? data.subarray(0, left) : data;
    for (let at = 0; at < passed.length; at += pieceBytes) client.write(passed.subarray(at, at + pieceBytes));
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
  it('emits each update once and in order, wherever its sockets are cut', async () => {
    let cuts = 0;
    const sandbox = await startSandbox();
    const proxy = await tcpProxy(sandbox.url, (client, server) => {
      forwardAndCut(client, server, 1 + Math.floor(Math.random() * maxBytes), () => (cuts += 1));
    });
    const ledger = createLedger({ baseUrl: new URL(proxy.url).origin, transport: webSocketTransport() });
    const request = { beginExclusive: 0, updateFormat: ledgerEffects({ parties: 'any' }) };
    const committing = setInterval(() => {
      sandbox.generate(2);
    }, 15);
    try {
      const seen = await lastValueFrom(
        ledger.updates(request, { idleTimeoutMs: 50 }).pipe(
          filter(({ _tag }) => _tag !== 'OffsetCheckpoint'),
          map(({ offset }) => offset),
          take(updates),
          toArray(),
        ),
      );
      expect(seen).toEqual(sandbox.updates.slice(0, updates).map((update) => updateValue(update).offset));
      expect(cuts).toBeGreaterThan(0);
    } finally {
      clearInterval(committing);
      proxy.close();
      await sandbox.close();
    }
  });
});
