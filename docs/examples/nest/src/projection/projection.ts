import type { Committed } from 'canton-rx';
import type { Observable } from 'rxjs';

/** How many contracts of a template are active. */
export interface Active {
  readonly templateId: string;
  readonly count: number;
}

/** How a processor is to be stopped. */
export interface Stopping {
  readonly signal: AbortSignal;
  readonly stopWithinMs: number;
}

/** What the service makes of the ledger: the contracts that are active, and a history of the updates. */
export abstract class Projection {
  /** Whether another process may work in place of this one, which waits for it to end. */
  abstract readonly hasReplicas: boolean;
  /** Follows the ledger, from the place that is stored, until it is stopped. */
  abstract follow(stopping: Stopping): Observable<Committed>;
  /** How many contracts are active, by template. */
  abstract active(): Promise<readonly Active[]>;
  /** Rejects while what is kept cannot be reached. */
  abstract check(): Promise<void>;
  abstract close(): Promise<void>;
}
