import { type Consumer, type ConsumerMessages, jetstream, type JsMsg } from '@nats-io/jetstream';
import { catchError, concatMap, defer, delay, ignoreElements, Observable, repeat, tap } from 'rxjs';
import type { Handler, Work } from '../process/ProcessOptions.js';
import { ensureConsumer, placeBucket, type Reader } from './consumer.js';
import { checkName, handlerRetryPolicy, type NatsUpdatesOptions } from './NatsUpdatesOptions.js';
import { type ReaderContext, readOne } from './readMessage.js';
import { RelayError, undefinedIfMissing, withRetry } from './RelayError.js';

/**
 * Reads the updates that a relay has published, one at a time and in order, also across replicas of a service that share a
 * durable. Calls the handler with each update, acknowledges the update after it is handled, and emits it after the server
 * has confirmed that.
 *
 * An update whose handler has not completed, or whose acknowledgement was lost, is delivered again: to the next subscriber,
 * or to another replica if this one has crashed or is silent. So a handler gets each update at least once. The reader does
 * not wait for what a subscriber does with emitted updates: work that must not be lost belongs in the handler. A handler that
 * returns a Promise continues after the subscriber has unsubscribed.
 *
 * Cold: each subscription is a reader of its own. It survives a restart of the server for as long as the connection does:
 * to wait without a limit, connect with `maxReconnectAttempts: -1`.
 *
 * @param options - the connection, the stream and the durable
 * @param handler - called with each update. The reader waits for its result: for an Observable until it completes, for a
 * Promise until it is fulfilled
 * @returns an Observable that errors with a `HandlerError`; with a `DecodeError` or an `OrderError` for a message that is not
 * from the relay; with a {@link RelayError} if messages were removed before they were read, if the durable was deleted, or if
 * the connection is closed; and with NATS's own errors. The update that it errors with is delivered again
 * @throws `TypeError` at once for a time that is not positive, and for a name that JetStream does not accept
 *
 * @example
 * ```ts
 * import type { NatsConnection } from '@nats-io/nats-core';
 * import { natsUpdates } from 'canton-rx/nats';
 *
 * const book = (offset: number): Promise<void> => Promise.resolve(console.log(offset));
 *
 * export const follow = (connection: NatsConnection) =>
 *   natsUpdates({ connection, stream: 'ledger', durable: 'billing' }, ({ offset }) => book(offset)).subscribe({
 *     error: (error) => console.error(error.message),
 *   });
 * ```
 */
export function natsUpdates(options: NatsUpdatesOptions, handler: Handler = () => undefined): Observable<Work> {
  const { connection, stream, durable, timeoutMs = 5000 } = options;
  checkName('stream', stream);
  checkName('durable', durable);
  const policy = handlerRetryPolicy(options);
  return defer(() => {
    const js = jetstream(connection, { timeout: timeoutMs });
    const replicas = async (): Promise<number> => {
      const { streams } = await js.jetstreamManager(false);
      return (await streams.info(stream)).config.num_replicas;
    };
    const places = placeBucket(js, stream, replicas);
    const hasConsumer = async (): Promise<boolean> => {
      const { consumers } = await js.jetstreamManager(false);
      return (await undefinedIfMissing(consumers.info(stream, durable))) !== undefined;
    };
    // a fetch fails when its server stops, and when the consumer was deleted
    const checkConsumer = (cause: unknown): Observable<never> => {
      if (connection.isClosed()) throw new RelayError('connection', stream, 'the connection is closed', cause);
      return withRetry(connection, hasConsumer).pipe(
        tap((exists) => {
          if (!exists)
            throw new RelayError('durable', stream, `the consumer ${durable} or the stream was deleted`, cause);
        }),
        delay(refetchDelayMs),
        ignoreElements(),
      );
    };

    const readAll = ({ info, place }: Reader): Observable<Work> => {
      const consumer = js.consumers.getConsumerFromInfo(info);
      // ack_wait is in nanoseconds; three heartbeats within it
      const heartbeatMs = Math.max(1, (info.config.ack_wait ?? 30e9) / 3e6);
      const context: ReaderContext = {
        connection,
        timeoutMs,
        stream,
        durable,
        handler,
        policy,
        heartbeatMs,
        places,
        place,
      };
      return fetchOne(consumer).pipe(
        catchError(checkConsumer),
        concatMap((message) => readOne(context, message)),
        repeat(),
      );
    };
    return withRetry(connection, () => ensureConsumer(js, places, options)).pipe(concatMap(readAll));
  });
}

/** The wait before a fetch that failed is repeated, in milliseconds. */
const refetchDelayMs = 100;

/** How long a fetch waits for a message, in milliseconds. A fetch that is lost with its server is noticed after one or two of these. */
const fetchExpiresMs = 5_000;

/**
 * Fetches one message only, so that no other is on its way to a subscriber that unsubscribes after it. Completes without a
 * message after a while.
 */
const fetchOne = (consumer: Consumer): Observable<JsMsg> =>
  new Observable<JsMsg>((subscriber) => {
    let messages: ConsumerMessages | undefined;
    const read = async (): Promise<void> => {
      messages = await consumer.fetch({ max_messages: 1, expires: fetchExpiresMs, idle_heartbeat: fetchExpiresMs / 2 });
      if (subscriber.closed) messages.stop();
      for await (const message of messages) subscriber.next(message);
    };
    read().then(
      () => {
        subscriber.complete();
      },
      (error: unknown) => {
        subscriber.error(error);
      },
    );
    return () => messages?.stop();
  });
