import type { EventFormat } from './EventFormat.js';
import type { TransactionFormat } from './TransactionFormat.js';

/** Which updates are asked for. */
export interface UpdateFormat {
  readonly transactions?: TransactionFormat | undefined;
  readonly reassignments?: EventFormat | undefined;
  /** The parties whose topology is asked for; empty for all. */
  readonly topology?: readonly string[] | undefined;
}
