import { JetStreamApiCodes, JetStreamApiError } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/nats-core';
import { defer, type Observable, retry, timer } from 'rxjs';
import { hasTag, lines } from '../errors/internal/message.js';

/**
 * What is wrong between a ledger and those who read its relay: the stream is missing, or not a relay's alone (`stream`);
 * what it had last can no longer be told (`end`); an update is larger than the server takes (`size`); a durable reader was
 * deleted, or reads otherwise (`durable`); messages were removed before they were read (`gap`); the connection was closed
 * (`connection`).
 */
export type RelayReason = 'stream' | 'end' | 'size' | 'durable' | 'gap' | 'connection';

/** A relay or a reader of it must not go on: updates would be missing, or come twice, without anybody's knowing. */
export class RelayError extends Error {
  /** The class's name. */
  override readonly name = 'RelayError' as const;
  /** Tells the errors apart. */
  readonly _tag = 'RelayError' as const;

  constructor(
    /** What is wrong, in a word. */
    readonly reason: RelayReason,
    /** The stream. */
    readonly stream: string,
    /** The same in a few words. */
    readonly explanation: string,
    /** NATS's own error, where there is one. */
    cause?: unknown,
  ) {
    super(lines(`The relay is broken: ${explanation}.`, { Reason: reason, Stream: stream }), { cause });
  }
}

/** Whether a value is a {@link RelayError}. */
export const isRelayError = (u: unknown): u is RelayError => hasTag(u, 'RelayError');

const attempts = 10;

/** Asks a server, and for about a minute again where it does not answer: it may be on its way back. */
export const withRetry = <A>(connection: NatsConnection, ask: () => Promise<A>): Observable<A> =>
  defer(ask).pipe(
    retry({
      count: attempts,
      delay: (error: unknown, failures) => {
        if (error instanceof JetStreamApiError || isRelayError(error) || connection.isClosed()) throw error;
        return timer(Math.random() * Math.min(5000, 100 * 2 ** failures));
      },
    }),
  );

const missing: readonly number[] = [
  JetStreamApiCodes.StreamNotFound,
  JetStreamApiCodes.ConsumerNotFound,
  JetStreamApiCodes.NoMessageFound,
];

/** What a call of JetStream's gives, or nothing where the stream, consumer or message that it is about is not there. */
export const undefinedIfMissing = <A>(asked: Promise<A>): Promise<A | undefined> =>
  asked.catch((error: unknown) => {
    if (error instanceof JetStreamApiError && missing.includes(error.code)) return undefined;
    throw error;
  });
