import { hasTag } from './internal/hasTag.js';
import { lines } from './internal/lines.js';
import type { Retried } from './Retried.js';

/** The service did not answer in time; the request was aborted. Transient. */
export class RequestTimeoutError extends Error {
  /** The class's name. */
  override readonly name = 'RequestTimeoutError' as const;
  /** Tells the errors apart. */
  readonly _tag = 'RequestTimeoutError' as const;
  /** How often and how long a feed has asked again before it gave up with this error; absent otherwise. */
  declare readonly retried?: Retried;

  constructor(
    /** The path of the request. */
    readonly path: string,
    /** How long the answer was waited for, in milliseconds. */
    readonly afterMs: number,
  ) {
    super(lines(`The ledger service did not answer within ${afterMs} ms.`, { Path: path }));
  }
}

/** Whether a value is a {@link RequestTimeoutError}. */
export const isRequestTimeoutError = (u: unknown): u is RequestTimeoutError => hasTag(u, 'RequestTimeoutError');
