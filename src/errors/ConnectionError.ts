import { hasTag } from './internal/hasTag.js';
import { lines } from './internal/lines.js';
import type { Retried } from './Retried.js';

/** The service was not reached, or its answer did not arrive whole. Transient. */
export class ConnectionError extends Error {
  /** The class's name. */
  override readonly name = 'ConnectionError' as const;
  /** Tells the errors apart. */
  readonly _tag = 'ConnectionError' as const;
  /** How often and how long a feed has asked again before it gave up with this error; absent otherwise. */
  declare readonly retried?: Retried;

  constructor(
    /** The path of the request. */
    readonly path: string,
    /** What happened, in a few words. */
    readonly reason: string,
    /** The system's name for it, such as `ECONNREFUSED`, where there is one. */
    readonly code?: string,
  ) {
    super(lines(`The ledger service gave no answer: ${reason}.`, { Path: path, Code: code }));
  }
}

/** Whether a value is a {@link ConnectionError}. */
export const isConnectionError = (u: unknown): u is ConnectionError => hasTag(u, 'ConnectionError');
