import { type Consumer, type ConsumerMessages, jetstream, type JsMsg } from '@nats-io/jetstream';
import { catchError, concatMap, defer, delay, ignoreElements, Observable, repeat, tap } from 'rxjs';
import type { Handler, Work } from '../process/ProcessOptions.js';
import { consumerOf, placesOf, type Reader } from './consumer.js';
import { checkNames, completeRetry, type NatsUpdatesOptions } from './NatsUpdatesOptions.js';
import { type Reading, readOne } from './readMessage.js';
import { withRetry, undefinedIfMissing, RelayError } from './RelayError.js';

// before a request is made once more
const pauseMs = 100;

/**
 * Reads the updates that a relay has published, one at a time and in order, also across replicas of a service that share a
 * durable. Each is handed to the handler, acknowledged when it is handled, and emitted when the server has confirmed that.
 *
 * An update whose handler has not ended, or whose acknowledgement has not arrived, comes again: to the next subscriber, or
 * to another replica, after a crash or silence of this one. So a handler sees each update at least once; what is done with
 * the emitted ones is not waited for: what must not be lost is done in the handler. Of a handler that returns a Promise the
 * work goes on when the subscriber is gone.
 *
 * Cold: each subscription is a reader of its own. It outlasts a server that restarts as long as the connection does: to
 * wait for any time, connect with `maxReconnectAttempts: -1`.
 *
 * @param options - the connection, the stream and the durable
 * @param handler - called with each update; what it returns is awaited: an Observable until it completes, a Promise until
 * it is fulfilled
 * @returns an Observable that errors with a `HandlerError`; with a `DecodeError` or an `OrderError` for a message that is not
 * from the relay; with a {@link RelayError} where messages were removed before they were read, where the durable was deleted
 * and where the connection is closed; and with NATS's own errors. The update that it errors with comes again
 * @throws `TypeError` at once for times that make no sense, and for names that JetStream does not take
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
  checkNames({ stream, durable });
  const policy = completeRetry(options);
  return defer(() => {
    const js = jetstream(connection, { timeout: timeoutMs });
    const replicas = async (): Promise<number> => {
      const { streams } = await js.jetstreamManager(false);
      return (await streams.info(stream)).config.num_replicas;
    };
    const places = placesOf(js, stream, replicas);
    const isThere = async (): Promise<boolean> => {
      const { consumers } = await js.jetstreamManager(false);
      return (await undefinedIfMissing(consumers.info(stream, durable))) !== undefined;
    };
    // a request fails where its server goes, and where the consumer is gone
    const lookedAfter = (cause: unknown): Observable<never> => {
      if (connection.isClosed()) throw new RelayError('connection', stream, 'the connection is closed', cause);
      return withRetry(connection, isThere).pipe(
        tap((isLeft) => {
          if (!isLeft)
            throw new RelayError('durable', stream, `the consumer ${durable} or the stream was deleted`, cause);
        }),
        delay(pauseMs),
        ignoreElements(),
      );
    };

    const read = ({ info, place }: Reader): Observable<Work> => {
      const consumer = js.consumers.getConsumerFromInfo(info);
      // in nanoseconds there; three signs of life in its time
      const beatMs = Math.max(1, (info.config.ack_wait ?? 30e9) / 3e6);
      const reading: Reading = { connection, timeoutMs, stream, durable, handler, policy, beatMs, places, place };
      return messageOnce(consumer).pipe(
        catchError(lookedAfter),
        concatMap((message) => readOne(reading, message)),
        repeat(),
      );
    };
    return withRetry(connection, () => consumerOf(js, places, options)).pipe(concatMap(read));
  });
}

// a request that is lost on the way, with a server that goes, is missed after one or two of these
const expires = 5_000;

/**
 * Asks for one message and no more, so that none is on its way to a subscriber who leaves when it has been handled. Completes
 * without one after a while.
 */
const messageOnce = (consumer: Consumer): Observable<JsMsg> =>
  new Observable<JsMsg>((subscriber) => {
    let messages: ConsumerMessages | undefined;
    const read = async (): Promise<void> => {
      messages = await consumer.fetch({ max_messages: 1, expires, idle_heartbeat: expires / 2 });
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
