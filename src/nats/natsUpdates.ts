import { jetstream } from '@nats-io/jetstream';
import { concat, concatMap, defer, ignoreElements, type Observable } from 'rxjs';
import type { Handler, Work } from '../process/Handler.js';
import { asking } from './asking.js';
import { checkGap } from './checkGap.js';
import { completeRetry } from './completeRetry.js';
import { consumerOf, type Reader } from './consumerOf.js';
import { latest } from './latest.js';
import { messagesOf } from './messagesOf.js';
import type { NatsUpdatesOptions } from './NatsUpdatesOptions.js';
import { placesOf } from './Places.js';
import { readerPlace } from './readerPlace.js';
import { readOne, type Reading } from './readOne.js';

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
 * @throws `TypeError` at once for times that make no sense
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
  const policy = completeRetry(options);
  return defer(() => {
    const js = jetstream(connection, { timeout: timeoutMs });
    const replicas = async (): Promise<number> => {
      const { streams } = await js.jetstreamManager(false);
      return (await streams.info(stream)).config.num_replicas;
    };
    const places = placesOf(js, stream, replicas);
    const target = { js, places, stream, durable };

    const read = ({ info, sequence }: Reader): Observable<Work> => {
      const gapless = (before?: number): Observable<never> =>
        asking(connection, () => checkGap(target, reading.place.sequence, before)).pipe(ignoreElements());
      const reading: Reading = {
        connection,
        timeoutMs,
        stream,
        handler,
        policy,
        // in nanoseconds there; three signs of life in its time
        beatMs: Math.max(1, (info.config.ack_wait ?? 30e9) / 3e6),
        place: { sequence, offset: 0 },
        note: latest((done: number) => places.put(readerPlace(durable), { sequence: done })),
        gapless,
      };
      const messages = messagesOf(js.consumers.getConsumerFromInfo(info), stream);
      return concat(gapless(), messages.pipe(concatMap((message) => readOne(reading, message))));
    };
    return asking(connection, () => consumerOf(js, places, options)).pipe(concatMap(read));
  });
}
