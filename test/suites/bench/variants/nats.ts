import { AckPolicy, DeliverPolicy, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { lastValueFrom, takeWhile } from 'rxjs';
import { acsDelta, createLedger } from '../../../../src/index.js';
import { natsFeed, natsRelay } from '../../../../src/nats/index.js';
import {
  memoryStore,
  processFeed,
  type ProcessOptions,
  updatesFeed,
  type Work,
} from '../../../../src/process/index.js';
import { type Load, type Outcome, type Stopwatch, stopwatch } from '../Load.js';
import { origin } from '../ledgerText.js';

/** The stream that the readers read; other relays publish to streams of their own. */
const shared = 'ledger';
const batchSize = 100;
const pageSize = 500;

async function measure(
  { natsUrl, count }: Load,
  run: (connection: NatsConnection, watch: Stopwatch) => Promise<unknown>,
): Promise<Outcome> {
  const connection = await connect({ servers: natsUrl });
  const watch = stopwatch(count);
  try {
    await run(connection, watch);
    return { cost: watch.each() };
  } finally {
    await connection.drain();
  }
}

/** The ledger of a bench repeats its update ids, which a stream would take for duplicates. */
const withOwnId = (update: Work): Work =>
  'updateId' in update ? { ...update, updateId: `${update.updateId}-${update.offset}` } : update;

const relayTo = (stream: string, load: Load): Promise<Outcome> =>
  measure(load, (connection, watch) => {
    const { handler, store } = natsRelay({ connection, stream });
    const feed = updatesFeed(createLedger({ baseUrl: load.url }), {
      beginExclusive: origin,
      endInclusive: origin + load.count * load.step,
      updateFormat: acsDelta({ parties: 'any' }),
    });
    const publish = async (updates: readonly Work[]): Promise<void> => {
      await handler(updates.map(withOwnId), undefined);
      watch.add(updates.length);
    };
    return lastValueFrom(
      processFeed(feed, publish, { name: 'relay', store, batch: { size: batchSize, withinMs: 10 } }),
    );
  });

/** Fills the stream that the readers read. */
export const fillStream = (load: Load): Promise<Outcome> => relayTo(shared, load);

/** A relay from a ledger into a stream of its own. */
export const relay = (load: Load): Promise<Outcome> => relayTo(`relay-${Date.now()}`, load);

/** Publishes as many messages of the same size, in batches of the same size. Reads no ledger. */
export const barePublish = (load: Load): Promise<Outcome> =>
  measure(load, async (connection, watch) => {
    const js = jetstream(connection);
    const { streams } = await jetstreamManager(connection);
    const message = await streams.getMessage(shared, { seq: 1 });
    const body = message?.data ?? new Uint8Array();
    const stream = `bare-${Date.now()}`;
    await streams.add({ name: stream, subjects: [stream] });
    for (let done = 0; done < load.count; done += batchSize) {
      const ids = Array.from({ length: batchSize }, (_, index) => `${done + index}`);
      await Promise.all(ids.map((msgID) => js.publish(stream, body, { msgID })));
      watch.add(batchSize);
    }
  });

const readBy = (load: Load, options: ProcessOptions, durable?: string): Promise<Outcome> =>
  measure(load, (connection, watch) => {
    const handler = (): void => {
      watch.add(1);
    };
    const committed$ = processFeed(natsFeed({ connection, stream: shared, durable }), handler, options);
    return lastValueFrom(committed$.pipe(takeWhile(({ isCaughtUp }) => !isCaughtUp)), { defaultValue: undefined });
  });

/** `processFeed` over a durable, with a handler that does nothing. */
export const readDurable = (load: Load): Promise<Outcome> => readBy(load, {}, `durable-${Date.now()}`);

/** The same with a store. */
export const readWithStore = (load: Load): Promise<Outcome> => readBy(load, { name: 'bench', store: memoryStore() });

/** Fetches pages of a durable, parses each message, and acknowledges the last one of a page. Decodes and checks nothing. */
export const bareConsumer = (load: Load): Promise<Outcome> =>
  measure(load, async (connection, watch) => {
    const { consumers } = await jetstreamManager(connection);
    const { name } = await consumers.add(shared, {
      durable_name: `bare-${Date.now()}`,
      ack_policy: AckPolicy.All,
      deliver_policy: DeliverPolicy.All,
      max_ack_pending: -1,
    });
    const consumer = await jetstream(connection).consumers.get(shared, name);
    let seen: unknown;
    while (watch.count() < load.count) {
      const messages = await consumer.fetch({ max_messages: pageSize, expires: 1_000 });
      for await (const message of messages) {
        seen = message.json();
        watch.add(1);
        if (message.info.pending === 0 || watch.count() % pageSize === 0) message.ack();
      }
    }
    if (seen === undefined) throw new Error('nothing was read');
  });
