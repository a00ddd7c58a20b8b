import type { ContractType, PayloadOf } from '../codecs/ContractType.js';
import type { CreatedEvent, ViewStatus } from '../codecs/Event.js';
import type { Problem } from '../codecs/Problem.js';
import type { Int64, Offset, Timestamp } from '../codecs/scalars.js';

/**
 * The location of a contract: on a synchronizer, or in flight between two.
 *
 * @category Contracts
 */
export type ContractLocation =
  | {
      /** The synchronizer on which the contract can be used. */
      readonly synchronizerId: string;
    }
  | {
      /**
       * Set while the contract is unassigned from the source and not yet assigned to the target. It cannot be used in
       * the meantime.
       */
      readonly inFlight: {
        /** The synchronizer that the contract left. */
        readonly source: string;
        /** The synchronizer that the contract is being assigned to. */
        readonly target: string;
      };
    };

/**
 * The properties that every contract has, decoded or not. They are computed when they are read, so a spread or a
 * `structuredClone` of a contract lacks most of them: copy the result of `toJSON` instead.
 *
 * @category Contracts
 */
export interface ContractFacts {
  /** The contract ID. */
  readonly contractId: string;
  /** The location of the contract. */
  readonly location: ContractLocation;
  /** The number of times that the contract was reassigned. */
  readonly reassignmentCounter: Int64;
  /** The offset of its last activation: its creation or its last assignment. */
  readonly offset: Offset;
  /** The ledger time at which the contract was created. */
  readonly createdAt: Timestamp;
  /** The template ID, as `package-id:Module:Entity`. */
  readonly templateId: string;
  /** The name of the template's package, which stays the same across upgrades. */
  readonly packageName: string;
  /** The signatories. */
  readonly signatories: readonly string[];
  /** The observers. */
  readonly observers: readonly string[];
  /** The created event as the participant sent it, with the undecoded arguments, key, views and blob. */
  readonly createdEvent: CreatedEvent;
  /**
   * Returns a plain object with all properties, which can be spread and cloned. Decodes the payload. `JSON.stringify`
   * uses it.
   */
  toJSON(): object;
}

/**
 * A contract whose payload was decoded.
 *
 * @category Contracts
 */
export interface Contract<N extends string = string, T = unknown> extends ContractFacts {
  /** The discriminant. */
  readonly _tag: 'Contract';
  /** The name of its type in the query. If the query has no types, `#package-name:Module:Entity`. */
  readonly type: N;
  /** The contract arguments, or the view if the type is an interface. */
  readonly payload: T;
  /** Absent. */
  readonly expectedType?: undefined;
  /** Absent. */
  readonly argument?: undefined;
  /** Absent. */
  readonly problems?: undefined;
  /** Absent. */
  readonly viewStatus?: undefined;
  toJSON(): Omit<Contract<N, T>, 'toJSON'>;
}

/**
 * A contract whose payload cannot be decoded, or whose interface view failed. In all other respects it is a contract
 * like any other.
 *
 * @category Contracts
 */
export interface UndecodedContract<N extends string = string> extends ContractFacts {
  /** The discriminant. */
  readonly _tag: 'UndecodedContract';
  /** Absent, so that checking `type` selects decoded contracts only. */
  readonly type?: undefined;
  /** Absent. */
  readonly payload?: undefined;
  /** The name of its type in the query. */
  readonly expectedType: N;
  /** The value that cannot be decoded, as the participant sent it. Absent if a view failed. */
  readonly argument?: unknown;
  /** Why the value cannot be decoded, without quoting any value. See {@link Problem} for the keys of maps. */
  readonly problems: readonly Problem[];
  /** The status of a view that the participant could not compute. */
  readonly viewStatus?: ViewStatus;
  toJSON(): Omit<UndecodedContract<N>, 'toJSON'>;
}

/**
 * The types of a query, by name.
 *
 * @category Contracts
 */
export type ContractTypes = Readonly<Record<string, ContractType>>;

/**
 * A contract of a query with the types `M`: a union that narrows by `type` and by `_tag`.
 *
 * @category Contracts
 */
export type ContractOf<M extends ContractTypes> = {
  [N in keyof M & string]: Contract<N, PayloadOf<M[N]>> | UndecodedContract<N>;
}[keyof M & string];

/**
 * Any contract, decoded or not.
 *
 * @category Contracts
 */
export type AnyContract = Contract | UndecodedContract;
