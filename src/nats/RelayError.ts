import { JetStreamApiCodes, JetStreamApiError } from '@nats-io/jetstream';
import { errorMessage, hasTag } from '../errors/internal/message.js';

/**
 * Why a relay, or a reader of its stream, must not continue: the stream is missing, or does not belong to the relay alone
 * (`stream`); the end of the stream is unknown (`end`); an update is larger than the server accepts (`size`); the durable
 * consumer was deleted, or has other settings (`durable`); messages were removed before they were read (`gap`); the
 * connection is closed (`connection`).
 *
 * @category Errors
 */
export type RelayReason = 'stream' | 'end' | 'size' | 'durable' | 'gap' | 'connection';

/**
 * A relay, or a reader of its stream, must not continue: updates would silently be missing, or come twice.
 *
 * @category Errors
 */
export class RelayError extends Error {
  /** The class's name. */
  override readonly name = 'RelayError' as const;
  /** Identifies the error. */
  readonly _tag = 'RelayError' as const;

  constructor(
    /** The kind of the error. */
    readonly reason: RelayReason,
    /** The name of the stream. */
    readonly stream: string,
    /** A human-readable description. */
    readonly explanation: string,
    /** The error of NATS, if there is one. */
    cause?: unknown,
  ) {
    super(errorMessage(`The relay is broken: ${explanation}.`, { Reason: reason, Stream: stream }), { cause });
  }
}

/**
 * Whether a value is a {@link RelayError}.
 *
 * @category Errors
 */
export const isRelayError = (u: unknown): u is RelayError => hasTag(u, 'RelayError');

/** The error for messages, from one up to the one before another, that were removed before they were read. */
export const gapError = (stream: string, from: number, before: number): RelayError =>
  new RelayError('gap', stream, `messages ${from} to ${before - 1} were removed before they were read`);

const missingCodes: readonly number[] = [
  JetStreamApiCodes.StreamNotFound,
  JetStreamApiCodes.ConsumerNotFound,
  JetStreamApiCodes.NoMessageFound,
];

/** The result of a call of JetStream, or `undefined` if its stream, consumer or message does not exist. */
export const undefinedIfMissing = <A>(result: Promise<A>): Promise<A | undefined> =>
  result.catch((error: unknown) => {
    if (error instanceof JetStreamApiError && missingCodes.includes(error.code)) return undefined;
    throw error;
  });
