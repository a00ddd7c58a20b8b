import { JetStreamApiCodes, JetStreamApiError } from '@nats-io/jetstream';
import { hasTag, runbook, TaggedError } from '../errors/internal/message.js';

/**
 * Why a relay, or a reader of its stream, must not continue. `stream`: the stream is missing, was created again, or does
 * not belong to the relay alone. `end`: the end of the stream is unknown. `size`: an update is larger than the server accepts.
 * `gap`: messages were removed before they were read.
 * `connection`: the connection is closed. `server`: NATS refuses a request of a reader, or the settings of a relay.
 *
 * @category Errors
 */
export type RelayReason = 'stream' | 'end' | 'size' | 'gap' | 'connection' | 'server';

/**
 * The error of a relay, or of a reader of its stream, that must not continue: otherwise updates would be lost or
 * duplicated without notice.
 *
 * @category Errors
 */
export class RelayError extends TaggedError<'RelayError'> {
  /** Whether the error ends the processor of a relay immediately. An update that is too large is a failure of its handler. */
  readonly endsProcessor: boolean;

  constructor(
    /** The kind of the error. */
    readonly reason: RelayReason,
    /** The name of the stream. */
    readonly stream: string,
    /** A human-readable description. */
    readonly explanation: string,
    /** The NATS error that caused it, if any. */
    cause?: unknown,
  ) {
    const details = { Reason: reason, Stream: stream, Runbook: runbook('relayerror') };
    super('RelayError', `The relay is broken: ${explanation}.`, details, { cause });
    this.endsProcessor = reason !== 'size';
  }

  override get summary(): string {
    return 'The stream of changes is interrupted.';
  }
}

/** Whether a value is the error of a relay. */
export const isRelayError = (u: unknown): u is RelayError => hasTag(u, 'RelayError');

/**
 * Returns the error for messages that were removed before they were read: those from a sequence number up to, but not
 * including, another one.
 */
export const gapError = (stream: string, from: number, before: number): RelayError =>
  new RelayError('gap', stream, `messages ${from} to ${before - 1} were removed before they were read`);

/**
 * Returns the error for a stream that does not have a message any more which a reader has read. `last` is its last message. If
 * that is an earlier one, the relay may publish the others again, with the same numbers.
 */
export const createdAgainError = (stream: string, sequence: number, last: number): RelayError =>
  new RelayError(
    'stream',
    stream,
    last < sequence
      ? `the stream ends with message ${last}, before message ${sequence}, which was read: it was created again, or has lost its newest messages. If its relay publishes them again, start again after that. Otherwise, to ${startOver}`
      : `message ${sequence} is not the one that was read: the stream was created again. To ${startOver}`,
  );

const startOver = 'read it from its beginning, use another name, or remove the cursor and what was derived from it';

/** Returns the error for a connection that is closed. */
export const closedError = (stream: string, cause: unknown): RelayError =>
  new RelayError('connection', stream, 'the connection is closed: start again with another one', cause);

/**
 * Returns the error if NATS refuses the settings of the stream or of its bucket, such as replicas without a cluster. A repetition
 * cannot help; `undefined` for any other error.
 */
export const refusedSettings = (stream: string, error: unknown, reason: string): RelayError | undefined =>
  error instanceof JetStreamApiError && settingsCodes.includes(error.code)
    ? new RelayError('server', stream, `NATS refuses the settings of the stream: ${reason}`, error)
    : undefined;

/** Invalid settings, a subject of another stream, and replicas on a server without a cluster. */
const settingsCodes: readonly number[] = [10052, 10065, 10074];

const missingCodes: readonly number[] = [
  JetStreamApiCodes.StreamNotFound,
  JetStreamApiCodes.ConsumerNotFound,
  JetStreamApiCodes.NoMessageFound,
];

/**
 * Resolves to the result of a call of JetStream, or to `undefined` if its stream, consumer or message does not exist.
 */
export const undefinedIfMissing = <A>(result: Promise<A>): Promise<A | undefined> =>
  result.catch((error: unknown) => {
    if (error instanceof JetStreamApiError && missingCodes.includes(error.code)) return undefined;
    throw error;
  });
