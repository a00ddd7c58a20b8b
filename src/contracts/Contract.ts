import type { ContractType, PayloadOf } from '../codecs/ContractType.js';
import type { CreatedEvent, ViewStatus } from '../codecs/Event.js';
import type { Problem } from '../codecs/Problem.js';
import type { Int64, Offset, Timestamp } from '../codecs/scalars.js';

/**
 * Where a contract is: on a synchronizer, or on its way between two.
 *
 * @category Contracts
 */
export type ContractLocation =
  | {
      /** The synchronizer on which the contract can be used. */
      readonly synchronizerId: string;
    }
  | {
      /** The contract was unassigned from the source and not yet assigned to the target. It cannot be used meanwhile. */
      readonly inFlight: {
        /** The synchronizer that it left. */
        readonly source: string;
        /** The synchronizer that it goes to. */
        readonly target: string;
      };
    };

/**
 * What all contracts have, decoded or not. The properties of a contract are computed when they are read, so that a spread or a
 * `structuredClone` of it lacks most of them: copy what `toJSON` gives.
 *
 * @category Contracts
 */
export interface ContractFacts {
  /** The contract. */
  readonly contractId: string;
  /** Where it is. */
  readonly location: ContractLocation;
  /** The number of its reassignments. */
  readonly reassignmentCounter: Int64;
  /** The offset of its last activation: its creation, or its last assignment. */
  readonly offset: Offset;
  /** The ledger time of its creation. */
  readonly createdAt: Timestamp;
  /** `package-id:Module:Entity` of its template. */
  readonly templateId: string;
  /** The name of the template's package, the same through its upgrades. */
  readonly packageName: string;
  /** Its signatories. */
  readonly signatories: readonly string[];
  /** Its observers. */
  readonly observers: readonly string[];
  /** Its event as the ledger sent it, with the undecoded arguments, key, views and blob. */
  readonly createdEvent: CreatedEvent;
  /** A plain object with all properties, which can be spread and cloned. Decodes the payload. `JSON.stringify` uses it. */
  toJSON(): object;
}

/**
 * A contract whose payload decodes.
 *
 * @category Contracts
 */
export interface Contract<N extends string = string, T = unknown> extends ContractFacts {
  /** The discriminant. */
  readonly _tag: 'Contract';
  /** The name of its type in the query; without types in the query, `#package-name:Module:Entity`. */
  readonly type: N;
  /** Its arguments, or its view where the type is an interface. */
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
 * A contract whose payload does not decode, or whose view failed. Apart from that, it is a contract like any other.
 *
 * @category Contracts
 */
export interface UndecodedContract<N extends string = string> extends ContractFacts {
  /** The discriminant. */
  readonly _tag: 'UndecodedContract';
  /** Absent, so that the name of a type only selects contracts that decode. */
  readonly type?: undefined;
  /** Absent. */
  readonly payload?: undefined;
  /** The name of its type in the query. */
  readonly expectedType: N;
  /** What does not decode, as the ledger sent it; absent if a view failed. */
  readonly argument?: unknown;
  /** Why it does not decode, without any value; see {@link Problem} for the keys of maps. */
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
 * The contracts of a query with the types `M`: a union that narrows by `type`, and by `_tag`.
 *
 * @category Contracts
 */
export type ContractOf<M extends ContractTypes> = {
  [N in keyof M & string]: Contract<N, PayloadOf<M[N]>> | UndecodedContract<N>;
}[keyof M & string];

/**
 * Any contract.
 *
 * @category Contracts
 */
export type AnyContract = Contract | UndecodedContract;
