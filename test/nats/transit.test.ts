import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterEach, beforeAll, expect, it } from '@jest/globals';
import { jetstreamManager } from '@nats-io/jetstream';
import { ReplaySubject } from 'rxjs';
import { natsFeed, natsRelay } from '../../src/nats/index.js';
import { processFeed, type Work } from '../../src/process/index.js';
import { describeWithNats } from '../helpers/natsServer.js';
import { observe, offsets } from '../helpers/observe.js';
import { until } from '../helpers/time.js';
import { feedOfPages, generateUpdates, readStream, run, runRelay, withNats } from './support.js';

let updates: readonly Work[] = [];
beforeAll(async () => {
  updates = await generateUpdates(20);
});

/** A network that loses what the server sends on a connection. The next connection loses nothing. */
interface Network {
  readonly url: string;
  /** Loses what the server sends after so many messages. */
  loseAfter(messages: number): void;
  loseAll(): void;
  /** Whether the server has sent the message of an update. */
  hasSent(offset: number): boolean;
  breakConnection(): void;
  close(): void;
}

async function startNetwork(target: string): Promise<Network> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const marker = 'Canton-Offset: ';
  const unlimited = 2 ** 31;
  let limit = unlimited;
  let sent = '';
  let arrived = 0;
  /** Returns the part of some bytes that arrives. */
  const arriving = (bytes: Buffer): Buffer => {
    sent += bytes.toString('latin1');
    const passed = sent.split(marker, limit + 1).join(marker).length;
    const count = Math.max(passed - arrived, 0);
    arrived += count;
    return bytes.subarray(0, count);
  };
  const lose = (after: number): void => {
    [limit, sent, arrived] = [after, '', 0];
  };
  const server = createServer((client) => {
    lose(unlimited);
    const upstream = connect(Number(port), hostname);
    for (const [from, to, pass] of [
      [client, upstream, (bytes: Buffer) => bytes],
      [upstream, client, arriving],
    ] as const) {
      sockets.add(from);
      from.on('data', (bytes: Buffer) => to.write(pass(bytes)));
      from.on('error', () => undefined);
      from.on('close', () => to.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const breakConnection = (): void => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  return {
    url: `nats://127.0.0.1:${(server.address() as AddressInfo).port}`,
    loseAfter: lose,
    loseAll: () => {
      lose(-1);
    },
    hasSent: (offset) => sent.includes(`${marker}${offset}\r\n`),
    breakConnection,
    close: () => {
      breakConnection();
      server.close();
    },
  };
}

describeWithNats('natsFeed, when messages are lost with a connection', () => {
  const nats = withNats();
  let network: Network | undefined;
  afterEach(() => network?.close());

  it.each([0, 1, 12, 19])(
    'reads those after the first %s again, although nothing arrives that would show it (G56)',
    async (arriving) => {
      const { connection, stream } = await nats.target();
      await runRelay(natsRelay({ connection, stream }), updates);
      const last = updates.at(-1)?.offset ?? 0;
      network = await startNetwork(nats.server.url);
      const reader = await nats.connect({ servers: network.url });
      network.loseAfter(arriving);
      const seen = run(natsFeed({ connection: reader, stream, timeoutMs: 500 }));
      await until(() => network?.hasSent(last) === true);
      network.breakConnection();
      await until(() => seen.error !== undefined || seen.values.at(-1)?.isCaughtUp === true);
      seen.subscription.unsubscribe();
      expect(seen.error).toBeUndefined();
      expect(offsets(seen.handled)).toEqual(offsets(updates));
    },
  );

  it('continues when the client notices that nothing arrives, and so does a relay (G53)', async () => {
    const { connection, stream } = await nats.target();
    network = await startNetwork(nats.server.url);
    const swallowed = await nats.connect({ servers: network.url, pingInterval: 100 });
    const gate$ = new ReplaySubject<void>(1);
    const { handler, store } = natsRelay({ connection: swallowed, stream, timeoutMs: 100 });
    const pages = feedOfPages([updates.slice(0, 10), updates.slice(10)], gate$);
    const relay = observe(processFeed(pages, handler, { name: 'relay', store, batch: { size: 10, withinMs: 0 } }));
    await until(() => relay.values.at(-1)?.offset === updates[9]?.offset);
    const seen = run(natsFeed({ connection: swallowed, stream, durable: 'reader', timeoutMs: 100 }));
    await until(() => seen.values.at(-1)?.isCaughtUp === true);
    network.loseAll();
    gate$.next();
    await until(() => seen.error !== undefined || seen.handled.length === updates.length);
    seen.subscription.unsubscribe();
    relay.subscription.unsubscribe();
    expect([seen.error, relay.error]).toEqual([undefined, undefined]);
    expect(offsets(seen.handled)).toEqual(offsets(updates));
    expect(offsets(await readStream(await jetstreamManager(connection), stream))).toEqual(offsets(updates));
  });
});
