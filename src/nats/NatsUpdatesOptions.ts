import type { NatsConnection } from '@nats-io/nats-core';
import type { ProcessOptions } from '../process/ProcessOptions.js';

/** How a relay's stream is read. */
export interface NatsUpdatesOptions {
  /** The connection, of any transport. It stays open when the reading ends. */
  readonly connection: NatsConnection;
  /** The stream. */
  readonly stream: string;
  /** The name of the consumer, which keeps the place. Replicas of a service share one: each update goes to one of them. */
  readonly durable: string;
  /**
   * Where a durable that is new begins: with the stream's first message, which must still be there (`'start'`); with the
   * first that still is (`'earliest'`); or behind the last (`'new'`).
   *
   * @defaultValue 'start'
   */
  readonly begin?: 'start' | 'earliest' | 'new' | undefined;
  /**
   * How long the server waits for a sign of life of one who has an update, in milliseconds, before it gives the update to
   * another. Of a durable that is there already its own setting holds.
   *
   * @defaultValue 30000
   */
  readonly ackWaitMs?: number | undefined;
  /**
   * How often a handler that fails is tried again. `giveUpAfterMs` counts its attempts and the waits between them.
   *
   * @defaultValue up to 250 ms before the first retry, and up to twice as long before each further one, 30000 ms at most; for at most 60000 ms
   */
  readonly handlerRetry?: ProcessOptions['handlerRetry'];
  /**
   * How long the server may take for one call, in milliseconds, before it is taken for failed, and asked again.
   *
   * @defaultValue 5000
   */
  readonly timeoutMs?: number | undefined;
}

/** How often a handler is tried again, with nothing left open. */
export interface HandlerRetry {
  readonly baseDelayMs: number;
  readonly maxDelayMs: number;
  readonly giveUpAfterMs: number;
}

/** Fills in what is not said. Throws a TypeError for times that make no sense. */
export function completeRetry({
  handlerRetry = {},
  ackWaitMs = 30_000,
  timeoutMs = 5000,
}: NatsUpdatesOptions): HandlerRetry {
  const { baseDelayMs = 250, maxDelayMs = 30_000, giveUpAfterMs = 60_000 } = handlerRetry;
  // no time at all is a policy too: never again
  const times = { baseDelayMs, maxDelayMs, giveUpAfterMs: giveUpAfterMs + 1, ackWaitMs, timeoutMs };
  for (const [name, ms] of Object.entries(times)) {
    if (!(ms > 0 && ms < Infinity)) throw new TypeError(`${name} must be a positive number of milliseconds`);
  }
  return { baseDelayMs, maxDelayMs, giveUpAfterMs };
}

/** Throws a TypeError for a name that JetStream would refuse, sooner or later: a mistake in the program. */
export function checkNames(names: Readonly<Record<string, string>>): void {
  for (const [what, name] of Object.entries(names))
    if (!/^[^\s.*>/\\]+$/.test(name))
      throw new TypeError(`${what} must be a name without blanks, dots, '*', '>' or slashes`);
}
