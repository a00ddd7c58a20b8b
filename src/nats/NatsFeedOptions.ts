import type { NatsConnection } from '@nats-io/nats-core';
import { checkPositive, type RetryPolicy } from '../http/retry.js';

/**
 * Options of {@link natsFeed}.
 *
 * @category Transports
 */
export interface NatsFeedOptions {
  /** The connection, over any transport. It stays open when a processor ends. */
  readonly connection: NatsConnection;
  /** The name of the relay's stream. */
  readonly stream: string;
  /**
   * The name of the consumer that keeps the cursor of a processor without a store. The replicas of a service share one:
   * one of them works, and another one continues when it ends. A processor with a store does not use it, because the
   * store keeps the cursor.
   *
   * @defaultValue none: a processor requires a store
   */
  readonly durable?: string | undefined;
  /**
   * Where a processor without a cursor begins: at the first message of the stream, which must still exist (`'start'`);
   * at the first message that exists (`'earliest'`); or after the last message (`'new'`).
   *
   * @defaultValue 'start'
   */
  readonly begin?: 'start' | 'earliest' | 'new' | undefined;
  /**
   * How long the active replica may be silent, in milliseconds, before another one takes over the durable. Must be the
   * same for all replicas.
   *
   * @defaultValue 30000
   */
  readonly ackWaitMs?: number | undefined;
  /**
   * How long one call of the server may take, in milliseconds. A call that takes longer has failed, and is retried.
   *
   * @defaultValue 5000
   */
  readonly timeoutMs?: number | undefined;
  /**
   * How to retry if the server does not respond and, by default, the store and the handler.
   *
   * @defaultValue up to 250 ms before the first retry, and up to twice as long before each further one, at most 30000
   * ms; for at most 300000 ms
   */
  readonly retry?: RetryPolicy | undefined;
  /**
   * The maximum number of updates in a page. About three pages are in memory at a time.
   *
   * @defaultValue 500
   */
  readonly maxPageSize?: number | undefined;
}

/** Options with their defaults. */
export type NatsFeedSettings = Pick<NatsFeedOptions, 'durable'> & {
  readonly [K in Exclude<keyof NatsFeedOptions, 'durable' | 'retry'>]-?: NonNullable<NatsFeedOptions[K]>;
};

/** Fills in the defaults. Throws a TypeError for a name that JetStream rejects, and for a number out of range. */
export function natsFeedSettings(options: NatsFeedOptions): NatsFeedSettings {
  const { connection, stream, durable, begin = 'start', ackWaitMs = 30_000, timeoutMs = 5_000 } = options;
  const { maxPageSize = 500 } = options;
  checkName('stream', stream);
  if (durable !== undefined) checkName('durable', durable);
  checkPositive({ ackWaitMs, timeoutMs });
  checkPositive({ maxPageSize }, true);
  return { connection, stream, durable, begin, ackWaitMs, timeoutMs, maxPageSize };
}

/** Throws a TypeError if an option is not a valid name of a stream or consumer. */
export function checkName(option: string, name: string): void {
  if (!/^[^\s.*>/\\]+$/.test(name))
    throw new TypeError(`${option} must be a name without whitespace, dots, '*', '>' or slashes`);
}
