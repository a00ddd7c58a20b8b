import type { ContractType, PayloadOf } from '../codecs/ContractType.js';
import { checkDistinct, type DecodedPayload, decodePayload, matchType } from '../codecs/decodePayload.js';
import type { CreatedEvent, ViewStatus } from '../codecs/Event.js';
import type { Problem } from '../codecs/Problem.js';
import type { Int64, Offset, Timestamp } from '../codecs/scalars.js';
import { printableProblems } from '../errors/internal/message.js';

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
 * The properties that every contract has, decoded or not. A contract is a plain object and is never changed, so it can
 * be spread, cloned, compared by identity, and kept in the state of a user interface.
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

/** Makes the contract of an event. Returns `undefined` if the query does not select it. */
export type MakeContract<C extends AnyContract = AnyContract> = (
  created: CreatedEvent,
  location: ContractLocation,
  reassignmentCounter: Int64,
) => C | undefined;

/**
 * Makes the contracts of a query. A contract gets the first type that it matches; without types, no payload is
 * validated. Throws a TypeError for two interfaces that cannot be distinguished.
 *
 * @param onUndecoded - called if a payload cannot be decoded
 */
export function makeContract(
  types: ContractTypes = {},
  onUndecoded?: (contract: UndecodedContract) => void,
): MakeContract {
  checkDistinct(Object.values(types));
  const kinds = Object.entries(types).map(([name, type]) => ({ name, type, matches: matchType(type) }));
  const share = shareStrings();
  return (createdEvent, location, reassignmentCounter) => {
    const kind = kinds.find(({ matches }) => matches(createdEvent));
    if (kind === undefined && kinds.length > 0) return undefined;
    shareTexts(createdEvent, share);
    const decoded: DecodedPayload = kind
      ? decodePayload(kind.type, createdEvent)
      : { ok: true, payload: createdEvent.createArgument };
    const facts = factsOf(createdEvent, location, reassignmentCounter);
    const type = kind?.name ?? share(typeNameOf(createdEvent));
    if (decoded.ok) return { _tag: 'Contract', type, payload: decoded.payload, ...facts };
    const { problems, viewStatus } = decoded;
    const contract: UndecodedContract = {
      ...{ _tag: 'UndecodedContract', expectedType: type, problems: printableProblems(problems) },
      ...('argument' in decoded && { argument: decoded.argument }),
      ...(viewStatus && { viewStatus }),
      ...facts,
    };
    onUndecoded?.(contract);
    return contract;
  };
}

/** The type of a contract without a type of the query. */
const typeNameOf = ({ packageName, templateId }: CreatedEvent): string =>
  `#${packageName}${templateId.slice(templateId.indexOf(':'))}`;

const factsOf = (
  createdEvent: CreatedEvent,
  location: ContractLocation,
  reassignmentCounter: Int64,
): ContractFacts => ({
  contractId: createdEvent.contractId,
  location,
  reassignmentCounter,
  offset: createdEvent.offset,
  createdAt: createdEvent.createdAt,
  templateId: createdEvent.templateId,
  packageName: createdEvent.packageName,
  signatories: createdEvent.signatories,
  observers: createdEvent.observers,
  createdEvent,
});

/**
 * Contracts have many strings in common, such as parties. One copy of each takes a third less memory. The event was
 * decoded for this contract, so it can be changed.
 */
function shareTexts(created: CreatedEvent, share: (text: string) => string): void {
  const event = created as { -readonly [K in keyof CreatedEvent]: CreatedEvent[K] };
  event.templateId = share(event.templateId);
  event.packageName = share(event.packageName);
  if (event.representativePackageId !== undefined) event.representativePackageId = share(event.representativePackageId);
  for (const texts of [event.signatories, event.observers, event.witnessParties] as string[][])
    texts.forEach((text, index) => {
      texts[index] = share(text);
    });
}

/** The number of strings that are shared, so that those of contracts that were archived long ago are forgotten. */
const maxShared = 10_000;

/** Returns a function that returns the same copy for equal strings. */
function shareStrings(): (text: string) => string {
  const known = new Map<string, string>();
  return (text) => {
    const shared = known.get(text);
    if (shared !== undefined) return shared;
    if (known.size >= maxShared) known.clear();
    known.set(text, text);
    return text;
  };
}
