import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { jetstream, jetstreamManager, type JetStreamManager, type StreamConfig } from '@nats-io/jetstream';
import { headers } from '@nats-io/nats-core';
import type { NodeConnectionOptions } from '@nats-io/transport-node';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import {
  concat,
  filter,
  firstValueFrom,
  from,
  lastValueFrom,
  map,
  NEVER,
  type Observable,
  of,
  take,
  toArray,
} from 'rxjs';
import { createLedger, ledgerEffects, UpdateElement } from '../../src/index.js';
import { natsRelay, type NatsPosition, type NatsRelay, type NatsRelayOptions } from '../../src/nats/index.js';
import {
  type Batch,
  type Committed,
  Cursor,
  type Feed,
  type FeedEntry,
  type FeedPosition,
  type HandlerResult,
  processFeed,
  type ProcessOptions,
  updatesFeed,
  type Work,
} from '../../src/process/index.js';
import { startSandbox } from '../../src/sandbox/index.js';
import { natsServer, type NatsServerOptions } from '../helpers/natsServer.js';
import { observe, type Observed } from '../helpers/observe.js';
import type { TestServer } from '../helpers/servers.js';

/** A server for tests, and connections to it. */
export interface Nats {
  readonly server: TestServer;
  /** A connection that is closed after the test. It reconnects without a limit. */
  connect(options?: NodeConnectionOptions): Promise<NatsConnection>;
  /** The name of a stream that no other test has. */
  newName(): string;
  /** A connection, and such a name. */
  target(): Promise<{ readonly connection: NatsConnection; readonly stream: string }>;
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
    if (server === undefined) throw new Error('the server is not started');
    return server;
  };
  const nats: Nats = {
    get server() {
      return running();
    },
    connect: async (options = {}) => {
      const reconnecting = { maxReconnectAttempts: -1, reconnectTimeWait: 20, timeout: 2000 };
      const connection = await connect({ servers: running().url, ...reconnecting, ...options });
      open.push(connection);
      return connection;
    },
    newName: () => `ledger${(names += 1)}`,
    target: async () => ({ connection: await nats.connect(), stream: nats.newName() }),
  };
  return nats;
}

/** Generates updates of mixed traffic, and reads them as a feed emits them. */
export async function generateUpdates(count: number): Promise<readonly Work[]> {
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

/** The IDs of updates. */
export const idsOf = (work: readonly Work[]): unknown[] =>
  work.map((update) => 'updateId' in update && update.updateId);

/** The cursor after an update. */
export const cursorAt = (offset: number): Cursor => ({ version: 1, offset, recordTimes: {}, selection: 'all' });

/** How a relay is run. */
export interface RelayRun {
  readonly size?: number;
  /** Called before each batch. */
  readonly before?: (offset: number) => unknown;
  /** Whether the run ends after a batch and before its save, like a process that crashes. */
  readonly isUnsaved?: (offset: number) => boolean;
}

/** Runs a relay as `processFeed` does: loads, calls the handler with the updates after the cursor, retries it, and saves. */
export async function runRelay(
  relay: NatsRelay,
  updates: readonly Work[],
  { size = 100, before, isUnsaved = () => false }: RelayRun = {},
): Promise<void> {
  const loaded = await retryUntilSuccess(() =>
    firstValueFrom(from(relay.store.load('relay')), { defaultValue: undefined }),
  );
  const cursor = Cursor.decode(loaded);
  const begin = cursor._tag === 'Right' ? cursor.right.offset : 0;
  const rest = updates.filter(({ offset }) => offset > begin);
  for (let at = 0; at < rest.length; at += size) {
    const batch = rest.slice(at, at + size);
    const offset = batch.at(-1)?.offset ?? 0;
    await before?.(offset);
    await retryUntilSuccess(() => relay.handler(batch, undefined) as Promise<unknown>);
    if (isUnsaved(offset)) return;
    await retryUntilSuccess(() => firstValueFrom(from(relay.store.save('relay', cursorAt(offset), undefined))));
  }
}

/** Retries until success. The timeout of the test is the limit. */
async function retryUntilSuccess<A>(work: () => Promise<A>): Promise<A> {
  for (let failures = 0; ; failures += 1) {
    try {
      return await work();
    } catch (error) {
      if (failures > 100) throw error;
    }
  }
}

/** A relay on a stream that exists already, as an operator would create it. */
export async function createRelay(
  options: NatsRelayOptions,
  config: Partial<StreamConfig> = {},
): Promise<NatsRelay & { readonly jsm: JetStreamManager }> {
  const jsm = await jetstreamManager(options.connection);
  const { stream } = options;
  await jsm.streams.add({ name: stream, subjects: [`${stream}.updates`], ...config });
  return { ...natsRelay(options), jsm };
}

/** Publishes updates as a relay would, to a stream as it may be after a loss. */
export async function publishAll(connection: NatsConnection, stream: string, updates: readonly Work[]): Promise<void> {
  for (const update of updates) {
    const header = headers();
    header.set('Canton-Offset', String(update.offset));
    header.set('Nats-Msg-Id', Object.assign({ updateId: '' }, update).updateId);
    const body = JSON.stringify(UpdateElement.encode(update));
    await jetstream(connection).publish(`${stream}.updates`, body, { headers: header });
  }
}

/** The updates in a stream, read message by message, without the library's reader. */
export async function readStream(jsm: JetStreamManager, stream: string): Promise<readonly Work[]> {
  const { state } = await jsm.streams.info(stream);
  const updates: Work[] = [];
  for (let seq = Math.max(state.first_seq, 1); seq <= state.last_seq; seq += 1) {
    const message = await jsm.streams.getMessage(stream, { seq });
    if (message === null) continue;
    const decoded = UpdateElement.decode(message.json());
    if (decoded._tag === 'Left' || decoded.right._tag === 'OffsetCheckpoint')
      throw new Error(`message ${seq} is not an update`);
    updates.push(decoded.right);
  }
  return updates;
}

/** A feed of a ledger that has these pages, and then waits. Each page after the first waits for the gate. */
export function feedOfPages(pages: readonly (readonly Work[])[], gate$: Observable<unknown> = of(true)): Feed {
  const request = { beginExclusive: 0, updateFormat: ledgerEffects({ parties: 'any' }) };
  const feed = updatesFeed(createLedger({ baseUrl: 'http://127.0.0.1:9' }), request);
  const pageOf = (page: readonly Work[], begin: number): Batch<FeedEntry<Work, FeedPosition>, FeedPosition> => ({
    items: page
      .filter(({ offset }) => offset > begin)
      .map((content) => ({ position: { offset: content.offset }, content })),
    position: { offset: Math.max(begin, page.at(-1)?.offset ?? 0) },
    isCaughtUp: false,
  });
  return {
    ...feed,
    open: (run) => ({
      ...feed.open(run),
      start$: of({ offset: 0 }),
      identity$: of({ selection: 'all' }),
      hasUpdate: () => of(true),
      batches: ({ offset }) =>
        concat(
          ...pages.map((page, index) =>
            (index === 0 ? of(true) : gate$).pipe(
              take(1),
              map(() => pageOf(page, offset)),
              filter(({ items }) => items.length > 0),
            ),
          ),
          NEVER,
        ),
    }),
  };
}

/** Processes a feed until so many updates are handled, and returns them. */
export async function handle(
  feed: Feed<Work, NatsPosition>,
  count: number,
  options: ProcessOptions = {},
): Promise<readonly Work[]> {
  const seen: Work[] = [];
  const enough = new AbortController();
  const handler = (update: Work): void => {
    if (seen.push(update) === count) enough.abort();
  };
  await lastValueFrom(processFeed(feed, handler, { ...options, signal: enough.signal }), { defaultValue: undefined });
  return seen;
}

/** The error of an Observable; `undefined` if it completes. */
export const errorOf = (source$: Observable<unknown>): Promise<unknown> =>
  lastValueFrom(source$, { defaultValue: undefined }).then(
    () => undefined,
    (reason: unknown) => reason,
  );

/** A processor under observation, and the updates that its handler got. */
export interface Run extends Observed<Committed> {
  readonly handled: Work[];
}

/** Runs a processor whose handler records the updates, and then calls another one. */
export function run(
  feed: Feed<Work, NatsPosition>,
  options: ProcessOptions = {},
  handler: (update: Work) => HandlerResult = () => undefined,
): Run {
  const handled: Work[] = [];
  const record = (update: Work): HandlerResult => {
    handled.push(update);
    return handler(update);
  };
  return Object.assign(observe(processFeed(feed, record, options)), { handled });
}
