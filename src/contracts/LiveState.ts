import type { Offset } from '../codecs/scalars.js';
import type { LedgerError } from '../errors/LedgerError.js';
import type { AnyContract } from './Contract.js';
import type { ContractSet } from './ContractSet.js';

/**
 * What is known of the contracts, and what the connection does: two things that change independently.
 *
 * @category Contracts
 */
export type LiveState<C extends AnyContract = AnyContract> =
  ContractsLoading | ContractsKnown<C, 'live'> | ContractsKnown<C, 'stale'>;

/**
 * The contracts are not known yet.
 *
 * @category Contracts
 */
export interface ContractsLoading {
  /** The discriminant. */
  readonly data: 'loading';
  /** What the connection does. */
  readonly connection: LiveConnection;
}

/**
 * The contracts are known.
 *
 * @category Contracts
 */
export interface ContractsKnown<C extends AnyContract = AnyContract, D extends 'live' | 'stale' = 'live' | 'stale'> {
  /**
   * The discriminant: `'live'` if everything is applied up to the end of the ledger, as far as it is known; `'stale'` while
   * there is more to apply, while a request is retried, and while the contracts are read again after a gap. Stale contracts
   * are all those of their offset.
   */
  readonly data: D;
  /** What the connection does. */
  readonly connection: LiveConnection;
  /** Everything up to here is applied. */
  readonly offset: Offset;
  /** The contracts. */
  readonly contracts: ContractSet<C>;
}

/**
 * What the connection of a live view does.
 *
 * @category Contracts
 */
export type LiveConnection =
  | {
      /** Nothing was received yet. */
      readonly status: 'connecting';
    }
  | {
      /** The last request was answered, or a WebSocket is open. */
      readonly status: 'open';
    }
  | {
      /** A request has failed and is repeated. */
      readonly status: 'retrying';
      /** The reason. */
      readonly cause: LedgerError;
      /** The number of failures in a row. */
      readonly attempt: number;
      /** When it is repeated, in milliseconds since the epoch. */
      readonly retryAt: number;
    };
