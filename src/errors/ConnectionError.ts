import { hasTag } from './internal/hasTag.js';
import { lines } from './internal/lines.js';

/** The service was not reached, or its answer did not arrive whole. Transient. */
export class ConnectionError extends Error {
  /** The class's name. */
  override readonly name = 'ConnectionError' as const;
  /** Tells the errors apart. */
  readonly _tag = 'ConnectionError' as const;

  constructor(
    /** The path of the request. */
    readonly path: string,
    /** What happened, in a few words. */
    readonly reason: string,
    /** The system's name for it, such as `ECONNREFUSED`, where there is one. */
    readonly code?: string,
  ) {
    super(lines(`The ledger service was not reached: ${reason}.`, { Path: path, Code: code }));
  }
}

/** Whether a value is a {@link ConnectionError}. */
export const isConnectionError = (u: unknown): u is ConnectionError => hasTag(u, 'ConnectionError');
