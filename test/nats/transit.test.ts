import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterEach, beforeAll, expect, it } from '@jest/globals';
import { natsFeed, natsRelay } from '../../src/nats/index.js';
import type { Work } from '../../src/process/index.js';
import { describeWithNats } from '../helpers/natsServer.js';
import { offsets } from '../helpers/observe.js';
import { until } from '../helpers/time.js';
import { generateUpdates, run, runRelay, withNats } from './support.js';

let updates: readonly Work[] = [];
beforeAll(async () => {
  updates = await generateUpdates(20);
});

/** A network that loses the rest of what the server sends, from within a message on, and then the connection. */
interface Network {
  readonly url: string;
  /** Loses what the server sends after so many messages. */
  loseAfter(messages: number): void;
  /** Whether the server has sent the message of an update. */
  hasSent(offset: number): boolean;
  /** Breaks the connection. The next one loses nothing. */
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
  const server = createServer((client) => {
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
    limit = unlimited;
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  return {
    url: `nats://127.0.0.1:${(server.address() as AddressInfo).port}`,
    loseAfter: (messages) => {
      [limit, sent, arrived] = [messages, '', 0];
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
});
