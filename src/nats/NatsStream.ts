import {
  jetstream,
  JetStreamApiError,
  type JetStreamClient,
  type StreamInfo,
  AckPolicy,
  DeliverPolicy,
} from '@nats-io/jetstream';
import { type NatsConnection, createInbox, type Msg, nanos } from '@nats-io/nats-core';
import {
  defer,
  map,
  type MonoTypeOperatorFunction,
  Observable,
  type ObservableInput,
  catchError,
  concatMap,
  of,
} from 'rxjs';
import { isLedgerError } from '../errors/LedgerError.js';
import { quotable } from '../errors/internal/message.js';
import { ConnectionError } from '../errors/request.js';
import { textOf } from '../errors/textOf.js';
import { clampTimer, mapError, type RetrySettings, retryTransient } from '../http/retry.js';
import {
  closedError,
  isRelayError,
  RelayError,
  undefinedIfMissing,
  createdAgainError,
  gapError,
} from './RelayError.js';
import { idHeader, offsetIn } from './relayStream.js';
import type { Delivery, NatsPosition } from './NatsPosition.js';

/** The stream of a relay, as one run of a processor reads it. */
export interface NatsStream {
  readonly connection: NatsConnection;
  readonly js: JetStreamClient;
  /** The name of the stream. */
  readonly stream: string;
  /** The time limit of one call of the server, in milliseconds. */
  readonly timeoutMs: number;
  readonly retrying: RetrySettings;
}

/** Returns the stream over a connection. */
export const natsStream = (options: Omit<NatsStream, 'js'>): NatsStream => ({
  ...options,
  js: jetstream(options.connection, { timeout: clampTimer(options.timeoutMs) }),
});

/** Calls the server, and retries if it does not respond: it may be restarting. */
const callServer = <A>(stream: NatsStream, call: () => Promise<A>): Observable<A> =>
  callServerOnce(stream, call).pipe(retryServer(stream));

/** Retries if the server does not respond. */
export const retryServer = <A>({ retrying }: NatsStream): MonoTypeOperatorFunction<A> =>
  retryTransient(retrying, (error) => isLedgerError(error, 'ConnectionError'));

/** Calls the server. If it does not respond or is not ready, the error is transient. */
export const callServerOnce = <A>(stream: NatsStream, call: () => ObservableInput<A>): Observable<A> =>
  defer(call).pipe(mapError((error) => serverError(stream, error)));

function serverError({ connection, stream }: NatsStream, error: unknown): unknown {
  if (isLedgerError(error) || isRelayError(error)) return error;
  const reason = quotable(textOf(error), []);
  if (error instanceof JetStreamApiError && error.status !== unavailable)
    return new RelayError('server', stream, `NATS refuses a request: ${reason}`, error);
  if (connection.isClosed()) return closedError(stream, error);
  return new ConnectionError(stream, `NATS: ${reason}`, { host: connection.getServer() });
}

/** The status of a response of a server whose JetStream is not ready. */
const unavailable = 503;

/** A message of a stream, without its content. */
interface MessageHead {
  /** The offset of its update; `undefined` for a message that is not from a relay. */
  readonly offset: number | undefined;
  /** The ID under which the relay published it. */
  readonly id: string;
}

/** Selects the message to read. */
type MessageQuery = { readonly seq: number } | { readonly last_by_subj: string };

/** Reads the head of a message; emits `undefined` if the stream does not exist or does not have it. */
export const readHead = (stream: NatsStream, query: MessageQuery): Observable<MessageHead | undefined> =>
  callServer(stream, async () => {
    const { streams } = await stream.js.jetstreamManager(false);
    return undefinedIfMissing(streams.getMessage(stream.stream, query));
  }).pipe(
    map((message) => (message ? { offset: offsetIn(message.header), id: message.header.get(idHeader) } : undefined)),
  );

/**
 * Emits the sequence numbers of the first and the last message. Fails with a {@link RelayError} if the stream does not
 * exist.
 */
export const readBounds = (stream: NatsStream): Observable<{ readonly first: number; readonly last: number }> =>
  callServer(stream, () => readInfo(stream)).pipe(
    map(({ state }) => ({ first: state.first_seq, last: state.last_seq })),
  );

/** Resolves to the number of servers that keep a copy of the stream. */
export const readReplicas = async (stream: NatsStream): Promise<number> => (await readInfo(stream)).config.num_replicas;

async function readInfo({ js, stream }: NatsStream): Promise<StreamInfo> {
  const { streams } = await js.jetstreamManager(false);
  const info = await undefinedIfMissing(streams.info(stream));
  if (info !== undefined) return info;
  throw new RelayError('stream', stream, 'the stream does not exist: start its relay first, or correct the name');
}

/** A consumer, and the message after which it begins. */
interface OpenConsumer {
  readonly consumer: string;
  /** The ID of the message; `undefined` at the beginning of the stream, and if the message was removed. */
  readonly id: string | undefined;
}

/**
 * The time for which a consumer is kept without a request, in milliseconds. If a handler takes longer, another one is created.
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

/**
 * Emits the sequence number of the last message that a consumer has sent, whether or not it has arrived; `undefined` if the
 * consumer does not exist or cannot be reached, so that another one must be opened.
 */
export const readLastSent = (stream: NatsStream, name: string): Observable<number | undefined> =>
  callServerOnce(stream, async () => {
    const { consumers } = await stream.js.jetstreamManager(false);
    return (await undefinedIfMissing(consumers.info(stream.stream, name)))?.delivered.stream_seq;
  }).pipe(
    // the only server of a cluster that keeps it may be unavailable
    catchError((error: unknown) => {
      if (!isLedgerError(error, 'ConnectionError')) throw error;
      return of(undefined);
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
      if (last < sequence) throw createdAgainError(stream.stream, sequence, last);
      if (offset === 0) return of(id);
      return readHead(stream, { seq: sequence }).pipe(
        map((head) => {
          const isSame = head === undefined || (head.offset === offset && (id === undefined || head.id === id));
          if (!isSame) throw createdAgainError(stream.stream, sequence, last);
          return head?.id ?? id;
        }),
      );
    }),
  );

/** The messages that a consumer sent for one request. */
export interface Pulled {
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
  /** The time to wait for the first message, in milliseconds; 0 for an immediate response. */
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
): Observable<Pulled> =>
  new Observable<Pulled>((subscriber) => {
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
    endAfter(clampTimer(waitMs + timeoutMs));
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
