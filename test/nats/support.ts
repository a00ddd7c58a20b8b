import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { jetstreamManager, type JetStreamManager, type StreamConfig } from '@nats-io/jetstream';
import type { NodeConnectionOptions } from '@nats-io/transport-node';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { filter, firstValueFrom, from, lastValueFrom, toArray } from 'rxjs';
import { createLedger, Cursor, ledgerEffects, UpdateElement, type Work } from '../../src/index.js';
import { natsRelay, type NatsRelay, type NatsRelayOptions } from '../../src/nats/index.js';
import { startSandbox } from '../../src/sandbox/index.js';
import { natsServer, type NatsServerOptions } from '../helpers/natsServer.js';
import type { TestServer } from '../helpers/servers.js';

/** What a test has of a server. */
export interface Nats {
  readonly server: TestServer;
  /** A connection that is closed with the test; it waits for a server as long as that takes. */
  connect(options?: NodeConnectionOptions): Promise<NatsConnection>;
  /** A name for a stream that no other test has. */
  name(): string;
}

/** One server for the tests of a `describe`. */
export function withNats(options?: NatsServerOptions): Nats {
  let server: TestServer | undefined;
  let names = 0;
  const open: NatsConnection[] = [];
  beforeAll(async () => {
    server = await natsServer(options);
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((connection) => connection.close()));
  });
  afterAll(() => server?.stop());
  const running = (): TestServer => {
    if (server === undefined) throw new Error('no server');
    return server;
  };
  return {
    get server() {
      return running();
    },
    connect: async (how = {}) => {
      const always = { maxReconnectAttempts: -1, reconnectTimeWait: 20, timeout: 2000 };
      const connection = await connect({ servers: running().url, ...always, ...how });
      open.push(connection);
      return connection;
    },
    name: () => `ledger${(names += 1)}`,
  };
}

/** That many updates of mixed traffic, as a feed emits them. */
export async function generated(count: number): Promise<readonly Work[]> {
  const sandbox = await startSandbox();
  try {
    const endInclusive = sandbox.generate(count);
    const ledger = createLedger({ baseUrl: sandbox.url });
    const updateFormat = ledgerEffects({ parties: 'any' });
    const isWork = (update: { readonly _tag: string }): update is Work => update._tag !== 'OffsetCheckpoint';
    const updates$ = ledger.updates({ beginExclusive: 0, endInclusive, updateFormat }).pipe(filter(isWork), toArray());
    return await lastValueFrom(updates$);
  } finally {
    await sandbox.close();
  }
}

/** The cursor behind an update. */
export const cursorAt = (offset: number): Cursor => ({ version: 1, offset, recordTimes: {}, selection: 'all' });

/** How a processor is played. */
export interface Played {
  readonly size?: number;
  /** Called before each batch. */
  readonly before?: (offset: number) => unknown;
  /** Whether a batch is not followed by a save, as if the process had ended in between. */
  readonly isUnsaved?: (offset: number) => boolean;
}

/** Does with a relay what `process` does: loads, hands over what comes after, again until that succeeds, and saves. */
export async function processed(
  relay: NatsRelay,
  updates: readonly Work[],
  { size = 100, before, isUnsaved = () => false }: Played = {},
): Promise<void> {
  const loaded = await persistently(() => firstValueFrom(from(relay.store.load('relay')), { defaultValue: undefined }));
  const cursor = Cursor.decode(loaded);
  const begin = cursor._tag === 'Right' ? cursor.right.offset : 0;
  const rest = updates.filter(({ offset }) => offset > begin);
  for (let at = 0; at < rest.length; at += size) {
    const batch = rest.slice(at, at + size);
    const offset = batch.at(-1)?.offset ?? 0;
    await before?.(offset);
    await persistently(() => relay.handler(batch, undefined) as Promise<unknown>);
    if (isUnsaved(offset)) return;
    await persistently(() => firstValueFrom(from(relay.store.save('relay', cursorAt(offset), undefined))));
  }
}

/** Until it succeeds; the test's own timeout ends it. */
async function persistently<A>(work: () => Promise<A>): Promise<A> {
  for (let failures = 0; ; failures += 1) {
    try {
      return await work();
    } catch (error) {
      if (failures > 100) throw error;
    }
  }
}

/** A relay, with the stream as an operator would make it. */
export async function relayTo(
  options: NatsRelayOptions,
  config: Partial<StreamConfig> = {},
): Promise<NatsRelay & { readonly jsm: JetStreamManager }> {
  const jsm = await jetstreamManager(options.connection);
  const { stream } = options;
  await jsm.streams.add({ name: stream, subjects: [`${stream}.updates`], ...config });
  return { ...natsRelay(options), jsm };
}

/** What stands in a stream, read message by message, without the library's reader. */
export async function stored(jsm: JetStreamManager, stream: string): Promise<readonly Work[]> {
  const { state } = await jsm.streams.info(stream);
  const updates: Work[] = [];
  for (let seq = Math.max(state.first_seq, 1); seq <= state.last_seq; seq += 1) {
    const message = await jsm.streams.getMessage(stream, { seq });
    if (message === null) continue;
    const decoded = UpdateElement.decode(message.json());
    if (decoded._tag === 'Left' || decoded.right._tag === 'OffsetCheckpoint') throw new Error(`no update at ${seq}`);
    updates.push(decoded.right);
  }
  return updates;
}
