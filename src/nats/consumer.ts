import { AckPolicy, DeliverPolicy } from '@nats-io/jetstream';
import { createInbox, type Msg, nanos } from '@nats-io/nats-core';
import { catchError, concatMap, map, Observable, of } from 'rxjs';
import { isLedgerError } from '../errors/LedgerError.js';
import type { Delivery, NatsPosition } from './NatsPosition.js';
import { callServer, callServerOnce, type NatsStream, readBounds, readHead } from './NatsStream.js';
import { createdAgainError, gapError, undefinedIfMissing } from './RelayError.js';

/** A consumer, and the message after which it begins. */
interface OpenConsumer {
  readonly consumer: string;
  /** The ID of the message; `undefined` at the beginning of the stream, and if the message was removed. */
  readonly id: string | undefined;
}

/**
 * How long a consumer is kept without a request, in milliseconds. If a handler takes longer, another one is created.
 */
const keptForMs = 300_000;

/**
 * Creates a temporary consumer that delivers the messages directly after a position, and acknowledges nothing. Fails if
 * the stream does not have the message at the position any more, which has this ID if it is known.
 */
export const openConsumer = (
  stream: NatsStream,
  after: NatsPosition,
  id: string | undefined,
): Observable<OpenConsumer> =>
  checkPosition(stream, after, id).pipe(
    concatMap((found) =>
      callServer(stream, async () => {
        const { consumers } = await stream.js.jetstreamManager(false);
        const { name } = await consumers.add(stream.stream, {
          ack_policy: AckPolicy.None,
          deliver_policy: DeliverPolicy.StartSequence,
          opt_start_seq: after.sequence + 1,
          inactive_threshold: nanos(keptForMs),
          mem_storage: true,
          num_replicas: 1,
        });
        return { consumer: name, id: found };
      }),
    ),
  );

/** Emits whether a consumer that did not respond still exists; if not, another one must be opened. */
export const hasConsumer = (stream: NatsStream, name: string): Observable<boolean> =>
  callServerOnce(stream, async () => {
    const { consumers } = await stream.js.jetstreamManager(false);
    return (await undefinedIfMissing(consumers.info(stream.stream, name))) !== undefined;
  }).pipe(
    // the only server of a cluster that keeps it may be unavailable
    catchError((error: unknown) => {
      if (!isLedgerError(error, 'ConnectionError')) throw error;
      return of(false);
    }),
  );

/**
 * Emits the ID of the message at a position. Fails with a {@link RelayError} if messages after it were removed, or if
 * the stream was created again.
 */
const checkPosition = (
  stream: NatsStream,
  { sequence, offset }: NatsPosition,
  id: string | undefined,
): Observable<string | undefined> =>
  readBounds(stream).pipe(
    concatMap(({ first, last }) => {
      if (first > sequence + 1) throw gapError(stream.stream, sequence + 1, first);
      if (last < sequence) throw createdAgainError(stream.stream, sequence);
      return offset === 0 ? of(undefined) : readHead(stream, { seq: sequence });
    }),
    map((head) => {
      const isSame = head === undefined || (head.offset === offset && (id === undefined || head.id === id));
      if (!isSame) throw createdAgainError(stream.stream, sequence);
      return head?.id ?? id;
    }),
  );

/** The messages that a consumer sent for one request. */
export interface Batch {
  readonly deliveries: readonly Delivery[];
  /** Whether the consumer had no more. */
  readonly isEnd: boolean;
  /** Whether the first message exceeds {@link maxBytes}. Only a request for a single message returns it. */
  readonly isTooLarge: boolean;
}

/** A request for messages. */
interface PullRequest {
  readonly consumer: string;
  readonly maxMessages: number;
  /** How long to wait for the first message, in milliseconds; 0 for an immediate response. */
  readonly waitMs: number;
}

/** The maximum size of the messages of a request, in bytes. */
const maxBytes = 8 * 2 ** 20;

/** The delay before the status after the last message, in milliseconds, for a server that sends none. */
const settleMs = 100;

/**
 * Requests messages of a consumer, and emits those that it has, once. They end with a status, according to the server's
 * clock, so no message is in transit when this completes. Fails if the server does not respond in time.
 */
export const pull = (
  { connection, js, stream, timeoutMs }: NatsStream,
  { consumer, maxMessages, waitMs }: PullRequest,
): Observable<Batch> =>
  new Observable<Batch>((subscriber) => {
    const deliveries: Delivery[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const end = (status?: 'end' | 'tooLarge'): void => {
      const isEmpty = deliveries.length === 0;
      const isEnd = status === 'end' || deliveries.at(-1)?.pending === 0;
      subscriber.next({ deliveries, isEnd, isTooLarge: isEmpty && status === 'tooLarge' });
      subscriber.complete();
    };
    const endAfter = (ms: number): void => {
      clearTimeout(timer);
      const count = deliveries.length;
      timer = setTimeout(() => {
        if (deliveries.length > count) endAfter(ms);
        else if (count > 0) end();
        else subscriber.error(new Error('the server did not respond in time'));
      }, ms);
    };
    const inbox = createInbox();
    const subscription = connection.subscribe(inbox, {
      callback: (error, message) => {
        const delivery = error === null ? deliveryOf(message) : undefined;
        if (delivery !== undefined) {
          deliveries.push(delivery);
          if (deliveries.length === maxMessages) end();
          else if (delivery.pending === 0) endAfter(settleMs);
          return;
        }
        const status = error ?? statusOf(message);
        if (!(status instanceof Error)) end(status);
        else if (deliveries.length > 0) end();
        else subscriber.error(status);
      },
    });
    void subscription.closed.then(() => {
      if (!subscriber.closed) subscriber.error(new Error('the connection is closed'));
    });
    endAfter(waitMs + timeoutMs);
    const request = {
      batch: maxMessages,
      no_wait: true,
      ...(waitMs > 0 && { expires: nanos(waitMs) }),
      ...(maxMessages > 1 && { max_bytes: maxBytes }),
    };
    const subject = `${js.apiPrefix}.CONSUMER.MSG.NEXT.${stream}.${consumer}`;
    connection.publish(subject, JSON.stringify(request), { reply: inbox });
    return () => {
      clearTimeout(timer);
      subscription.unsubscribe();
    };
  });

/**
 * Reads the reply subject of a message, `$JS.ACK.stream.consumer.attempts.sequence.n.time.pending`. Newer
 * servers add a domain and an account before the stream. A status has none.
 */
function deliveryOf(message: Msg): Delivery | undefined {
  const { reply = '' } = message;
  const tokens = reply.split('.');
  const at = tokens.length < 11 ? 5 : 7;
  if (tokens[1] !== 'ACK') return undefined;
  return { sequence: Number(tokens[at]), pending: Number(tokens[at + 3]), message };
}

/** Returns how a request ended: no more messages, a message that is too large, or an error. */
function statusOf({ headers }: Msg): 'end' | 'tooLarge' | Error {
  const { code = 0, description = '' } = headers ?? {};
  if (description.includes('MaxBytes')) return 'tooLarge';
  // the server also reports a request that is queued after another one with 408
  return code === 404 || (code === 408 && !description.includes('Pending')) ? 'end' : new Error(description);
}
