import { AckPolicy, type ConsumerConfig, type ConsumerInfo, DeliverPolicy } from '@nats-io/jetstream';
import { nanos } from '@nats-io/nats-core';
import { catchError, concatMap, map, type Observable, of } from 'rxjs';
import { isConnectionError } from '../errors/request.js';
import type { NatsPosition } from './NatsPosition.js';
import { callServer, callServerOnce, type NatsStream, readBounds, readHead } from './NatsStream.js';
import { gapError, RelayError, undefinedIfMissing } from './RelayError.js';

/** Creates consumers that deliver the messages of a stream in order, from any position. */
export interface MessageSource {
  /** Emits the name of a consumer that begins directly after a position. */
  open(after: NatsPosition): Observable<string>;
  /**
   * Emits whether a consumer that did not respond still exists, so that it can be used again; if not, another one must
   * be opened. Fails if that is not allowed.
   */
  hasConsumer(name: string): Observable<boolean>;
}

/**
 * How long a temporary consumer is kept without a request, in milliseconds. If a handler takes longer, another one is
 * created.
 */
const keptForMs = 300_000;

/** Returns temporary consumers, for a processor whose store keeps the cursor. They acknowledge nothing. */
export function temporarySource(stream: NatsStream): MessageSource {
  const create = (sequence: number): Observable<string> =>
    callServer(stream, async () => {
      const { consumers } = await stream.js.jetstreamManager(false);
      const { name } = await consumers.add(stream.stream, {
        ack_policy: AckPolicy.None,
        deliver_policy: DeliverPolicy.StartSequence,
        opt_start_seq: sequence + 1,
        inactive_threshold: nanos(keptForMs),
        mem_storage: true,
        num_replicas: 1,
      });
      return name;
    });
  return {
    open: (after) => checkPosition(stream, after).pipe(concatMap(() => create(after.sequence))),
    hasConsumer: (name) =>
      readConsumer(stream, name).pipe(
        map((info) => info !== undefined),
        // the only server of a cluster that keeps it may be unavailable
        catchError((error: unknown) => {
          if (!isConnectionError(error)) throw error;
          return of(false);
        }),
      ),
  };
}

/**
 * Returns the durable, for a processor that holds its place. It is created again if it would not deliver the next
 * message: after another replica has used it, and after a loss.
 *
 * @param held$ - fails if another replica has taken the place
 */
export function durableSource(stream: NatsStream, durable: string, held$: Observable<unknown>): MessageSource {
  const ensure = (sequence: number): Observable<string> =>
    callServer(stream, async () => {
      const { consumers } = await stream.js.jetstreamManager(false);
      const info = await undefinedIfMissing(consumers.info(stream.stream, durable));
      if (info !== undefined) {
        checkSettings(stream.stream, durable, info);
        if (info.delivered.stream_seq === sequence && info.num_ack_pending === 0) return durable;
        await undefinedIfMissing(consumers.delete(stream.stream, durable));
      }
      const config = info?.config ?? { ...durableSettings, durable_name: durable };
      await consumers.add(stream.stream, { ...config, opt_start_seq: sequence + 1 });
      return durable;
    });
  return {
    open: (after) =>
      held$.pipe(
        concatMap(() => checkPosition(stream, after)),
        concatMap(() => ensure(after.sequence)),
      ),
    hasConsumer: () =>
      readConsumer(stream, durable).pipe(
        concatMap((info) => (info === undefined ? held$.pipe(map(() => false)) : of(true))),
        map((exists) => {
          if (exists) return true;
          throw new RelayError('durable', stream.stream, `the consumer ${durable} or the stream was deleted`);
        }),
      ),
  };
}

/**
 * Emits the sequence number of the message up to which a durable is acknowledged, or after which it begins; `undefined`
 * if it does not exist.
 */
export const readAckFloor = (stream: NatsStream, durable: string): Observable<number | undefined> =>
  callServer(stream, async () => {
    const { consumers } = await stream.js.jetstreamManager(false);
    const info = await undefinedIfMissing(consumers.info(stream.stream, durable));
    return info && Math.max(info.ack_floor.stream_seq, (info.config.opt_start_seq ?? 1) - 1);
  });

const readConsumer = (stream: NatsStream, name: string): Observable<ConsumerInfo | undefined> =>
  callServerOnce(stream, async () => {
    const { consumers } = await stream.js.jetstreamManager(false);
    return undefinedIfMissing(consumers.info(stream.stream, name));
  });

/** Fails with a {@link RelayError} if messages after a position were removed, or if the stream was created again. */
const checkPosition = (stream: NatsStream, { sequence, offset }: NatsPosition): Observable<unknown> =>
  readBounds(stream).pipe(
    concatMap(({ first, last }) => {
      if (first > sequence + 1) throw gapError(stream.stream, sequence + 1, first);
      if (last < sequence) throw createdAgain(stream.stream, sequence);
      return offset === 0 ? of(undefined) : readHead(stream, { seq: sequence });
    }),
    map((head) => {
      if (head !== undefined && head.offset !== offset) throw createdAgain(stream.stream, sequence);
      return true;
    }),
  );

const createdAgain = (stream: string, sequence: number): RelayError =>
  new RelayError(
    'stream',
    stream,
    `the stream lacks message ${sequence}, which was read before: the stream was created again`,
  );

/**
 * The settings of a durable. The server never delivers a message twice: a replica that takes over creates the durable
 * again.
 */
const durableSettings: Partial<ConsumerConfig> = {
  ack_policy: AckPolicy.All,
  ack_wait: nanos(24 * 3_600_000),
  max_ack_pending: -1,
  deliver_policy: DeliverPolicy.StartSequence,
};

function checkSettings(stream: string, durable: string, { config }: ConsumerInfo): void {
  const { ack_policy, max_ack_pending, deliver_policy, deliver_subject, filter_subject, filter_subjects } = config;
  const { ack_policy: ack, max_ack_pending: pending, deliver_policy: deliver } = durableSettings;
  const isSame = ack_policy === ack && max_ack_pending === pending && deliver_policy === deliver;
  if (isSame && (deliver_subject ?? filter_subject ?? filter_subjects?.[0]) === undefined) return;
  const explanation = `the consumer ${durable} lacks the settings that natsFeed requires: delete it (its cursor is kept)`;
  throw new RelayError('durable', stream, explanation);
}
