import { jetstream, JetStreamApiError, type JetStreamClient, type StreamInfo } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/nats-core';
import { defer, map, type MonoTypeOperatorFunction, type Observable, type ObservableInput } from 'rxjs';
import { Offset } from '../codecs/scalars.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { quotable } from '../errors/internal/message.js';
import { ConnectionError } from '../errors/request.js';
import { mapError, type RetrySettings, retryTransient } from '../http/retry.js';
import { closedError, isRelayError, RelayError, undefinedIfMissing } from './RelayError.js';
import { idHeader, offsetHeader } from './relayStream.js';

/** The stream of a relay, as one run of a processor reads it. */
export interface NatsStream {
  readonly connection: NatsConnection;
  readonly js: JetStreamClient;
  /** The name of the stream. */
  readonly stream: string;
  /** How long one call of the server may take, in milliseconds. */
  readonly timeoutMs: number;
  readonly retrying: RetrySettings;
}

/** Returns the stream over a connection. */
export const natsStream = (options: Omit<NatsStream, 'js'>): NatsStream => ({
  ...options,
  js: jetstream(options.connection, { timeout: options.timeoutMs }),
});

/** Calls the server, and retries if it does not respond: it may be restarting. */
export const callServer = <A>(stream: NatsStream, call: () => Promise<A>): Observable<A> =>
  callServerOnce(stream, call).pipe(retryServer(stream));

/** Retries if the server does not respond. */
export const retryServer = <A>({ retrying }: NatsStream): MonoTypeOperatorFunction<A> =>
  retryTransient(retrying, (error) => isLedgerError(error, 'ConnectionError'));

/** Calls the server. If it does not respond or is not ready, the error is transient. */
export const callServerOnce = <A>(stream: NatsStream, call: () => ObservableInput<A>): Observable<A> =>
  defer(call).pipe(mapError((error) => serverError(stream, error)));

function serverError({ connection, stream }: NatsStream, error: unknown): unknown {
  if (isLedgerError(error) || isRelayError(error)) return error;
  const reason = quotable(error instanceof Error ? error.message : String(error), []);
  if (error instanceof JetStreamApiError && error.status !== unavailable)
    return new RelayError('server', stream, `NATS refuses a request: ${reason}`, error);
  if (connection.isClosed()) return closedError(stream, error);
  return new ConnectionError(stream, `NATS: ${reason}`, undefined, connection.getServer());
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
    map((message) => {
      if (message === undefined || message === null) return undefined;
      const { header } = message;
      const offset = Number(header.get(offsetHeader) || NaN);
      return { offset: Offset.is(offset) ? offset : undefined, id: header.get(idHeader) };
    }),
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
