import { hasTag } from '../errors/internal/hasTag.js';
import { lines } from '../errors/internal/lines.js';

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
