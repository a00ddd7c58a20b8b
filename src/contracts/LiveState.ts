import type { Offset } from '../codecs/scalars.js';
import type { LedgerError } from '../errors/LedgerError.js';
import type { AnyContract } from './Contract.js';
import type { ContractSet } from './ContractSet.js';

/**
 * The state of a live view: what is known of the contracts, and the state of the connection. The two change
 * independently.
 *
 * @category Contracts
 */
export type LiveState<C extends AnyContract = AnyContract> =
  ContractsLoading | ContractsKnown<C, 'live'> | ContractsKnown<C, 'stale'>;

/**
 * The state before the contracts are known.
 *
 * @category Contracts
 */
export interface ContractsLoading {
  /** The discriminant. */
  readonly data: 'loading';
  /** The state of the connection. */
  readonly connection: LiveConnection;
}

/**
 * The state once the contracts are known.
 *
 * @category Contracts
 */
export interface ContractsKnown<C extends AnyContract = AnyContract, D extends 'live' | 'stale' = 'live' | 'stale'> {
  /**
   * The discriminant. `'live'` if everything up to the ledger end, as far as it is known, has been applied. `'stale'`
   * while there is more to apply, while a request is retried, and while the contracts are read again after a gap. Stale
   * contracts are complete as of their offset.
   */
  readonly data: D;
  /** The state of the connection. */
  readonly connection: LiveConnection;
  /** The offset up to which everything has been applied. */
  readonly offset: Offset;
  /** The contracts. */
  readonly contracts: ContractSet<C>;
}

/**
 * The state of the connection of a live view.
 *
 * @category Contracts
 */
export type LiveConnection =
  | {
      /** Nothing has been received yet. */
      readonly status: 'connecting';
    }
  | {
      /** The last request was answered, or a WebSocket is open. */
      readonly status: 'open';
    }
  | {
      /** A request has failed and will be repeated. */
      readonly status: 'retrying';
      /** The error of the last attempt. */
      readonly cause: LedgerError;
      /** The number of consecutive failures. */
      readonly attempt: number;
      /** When the request is repeated, in milliseconds since the epoch. */
      readonly retryAt: number;
    };
