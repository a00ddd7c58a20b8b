import type { NatsConnection } from '@nats-io/nats-core';
import type { ProcessOptions } from '../process/ProcessOptions.js';

/** Options of {@link natsUpdates}. */
export interface NatsUpdatesOptions {
  /** The connection, of any transport. It stays open when the subscription ends. */
  readonly connection: NatsConnection;
  /** The name of the relay's stream. */
  readonly stream: string;
  /** The name of the consumer, which keeps the position. Replicas of a service share one: each update goes to one of them. */
  readonly durable: string;
  /**
   * Where a new durable begins: at the stream's first message, which must still exist (`'start'`); at the first message
   * that exists (`'earliest'`); or after the last one (`'new'`).
   *
   * @defaultValue 'start'
   */
  readonly begin?: 'start' | 'earliest' | 'new' | undefined;
  /**
   * How long the server waits for a heartbeat of the subscriber that handles an update, in milliseconds, before it delivers
   * the update to another one. An existing durable keeps its own setting.
   *
   * @defaultValue 30000
   */
  readonly ackWaitMs?: number | undefined;
  /**
   * How often a handler that fails is retried. `giveUpAfterMs` limits the time of its attempts and of the waits between
   * them.
   *
   * @defaultValue up to 250 ms before the first retry, and up to twice as long before each further one, 30000 ms at most; for at most 60000 ms
   */
  readonly handlerRetry?: ProcessOptions['handlerRetry'];
  /**
   * How long one call of the server may take, in milliseconds. After that the call has failed, and is retried.
   *
   * @defaultValue 5000
   */
  readonly timeoutMs?: number | undefined;
}

/** The handler's retry policy with its defaults. */
export interface HandlerRetry {
  readonly baseDelayMs: number;
  readonly maxDelayMs: number;
  readonly giveUpAfterMs: number;
}

/** The handler's retry policy. Throws a TypeError for an option that is not a positive time. */
export function handlerRetryPolicy({
  handlerRetry = {},
  ackWaitMs = 30_000,
  timeoutMs = 5000,
}: NatsUpdatesOptions): HandlerRetry {
  const { baseDelayMs = 250, maxDelayMs = 30_000, giveUpAfterMs = 60_000 } = handlerRetry;
  // giveUpAfterMs may be 0: no retry at all
  const times = { baseDelayMs, maxDelayMs, giveUpAfterMs: giveUpAfterMs + 1, ackWaitMs, timeoutMs };
  for (const [name, ms] of Object.entries(times)) {
    if (!(ms > 0 && ms < Infinity)) throw new TypeError(`${name} must be a positive number of milliseconds`);
  }
  return { baseDelayMs, maxDelayMs, giveUpAfterMs };
}

/** Throws a TypeError for an option that is not a valid name of a stream or consumer. */
export function checkName(option: string, name: string): void {
  if (!/^[^\s.*>/\\]+$/.test(name))
    throw new TypeError(`${option} must be a name without blanks, dots, '*', '>' or slashes`);
}
