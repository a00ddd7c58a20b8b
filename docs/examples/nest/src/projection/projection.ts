import type { Committed } from 'canton-rx/process';
import type { Observable } from 'rxjs';

/** The number of active contracts of a template. */
export interface Active {
  readonly templateId: string;
  readonly count: number;
}

/** How a processor is stopped. */
export interface Stopping {
  readonly signal: AbortSignal;
  readonly stopWithinMs: number;
}

/** The state that the service derives from the ledger: the active contracts, and a history of the updates. */
export abstract class Projection {
  /** Whether another process may hold the processor, while this one waits as a standby. */
  abstract readonly hasReplicas: boolean;
  /** Follows the ledger from the stored position until it is stopped. */
  abstract follow(stopping: Stopping): Observable<Committed>;
  /** The number of active contracts by template. */
  abstract active(): Promise<readonly Active[]>;
  /** Rejects while the store is not available. */
  abstract check(): Promise<void>;
  abstract close(): Promise<void>;
}
