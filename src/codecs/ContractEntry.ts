import type * as t from 'io-ts';
import { CreatedEvent } from './Event.js';
import { list, optional, tag, text } from './internal/field.js';
import { message } from './internal/message.js';
import { oneOf, unknownVariant } from './internal/variant.js';
import { AssignedEvent, UnassignedEvent } from './Reassignment.js';
import { Int64, Offset } from './scalars.js';

/**
 * A contract that is active on a synchronizer. During a reassignment, a contract may be active on several
 * synchronizers.
 *
 * @category Contracts
 */
export interface ActiveContract {
  /** The kind of entry; `JsActiveContract` on the wire. */
  readonly _tag: 'ActiveContract';
  /** The contract. Its `offset` is the offset of its last activation on this synchronizer. */
  readonly createdEvent: CreatedEvent;
  /** The synchronizer. */
  readonly synchronizerId: string;
  /**
   * The number of reassignments of the contract when it was last activated on this synchronizer; 0 after its creation.
   */
  readonly reassignmentCounter: Int64;
}

/**
 * A contract in flight: unassigned from one synchronizer and not yet assigned to another.
 *
 * @category Contracts
 */
export interface IncompleteUnassigned {
  /** The kind of entry; `JsIncompleteUnassigned` on the wire. */
  readonly _tag: 'IncompleteUnassigned';
  /** The contract, as of its last activation on the source. */
  readonly createdEvent: CreatedEvent;
  /** The unassignment. */
  readonly unassignedEvent: UnassignedEvent;
}

/**
 * A contract that was assigned to a synchronizer before the participant saw its unassignment from the source. Its entry
 * on the source is out of date. If it is still active on the target, the snapshot also contains its
 * {@link ActiveContract}.
 *
 * @category Contracts
 */
export interface IncompleteAssigned {
  /** The kind of entry; `JsIncompleteAssigned` on the wire. */
  readonly _tag: 'IncompleteAssigned';
  /** The assignment. */
  readonly assignedEvent: AssignedEvent;
}

/**
 * An entry of a kind that this version does not know, undecoded. One example is `JsEmpty`, which you can ignore.
 *
 * @category Contracts
 */
export interface UnknownContractEntry {
  /** The kind of entry. */
  readonly _tag: 'UnknownContractEntry';
  /** The wire name of the kind. */
  readonly variant: string;
  /** The content, undecoded. */
  readonly value: unknown;
}

/** @inline */
type Known = ActiveContract | IncompleteUnassigned | IncompleteAssigned;

/**
 * An entry in a snapshot of the active contracts: a union, discriminated by `_tag`.
 *
 * @category Contracts
 */
export type ContractEntry = Known | UnknownContractEntry;

/**
 * Codec of `ContractEntry`: `{"JsActiveContract": {...}}` and so on.
 *
 * @category Contracts
 */
export const ContractEntry: t.Type<ContractEntry, unknown> = oneOf<Known, UnknownContractEntry>(
  'ContractEntry',
  {
    ActiveContract: message<ActiveContract>('ActiveContract', {
      _tag: tag('ActiveContract'),
      createdEvent: CreatedEvent,
      synchronizerId: text,
      reassignmentCounter: Int64,
    }),
    IncompleteUnassigned: message<IncompleteUnassigned>('IncompleteUnassigned', {
      _tag: tag('IncompleteUnassigned'),
      createdEvent: CreatedEvent,
      unassignedEvent: UnassignedEvent,
    }),
    IncompleteAssigned: message<IncompleteAssigned>('IncompleteAssigned', {
      _tag: tag('IncompleteAssigned'),
      assignedEvent: AssignedEvent,
    }),
  },
  unknownVariant('UnknownContractEntry'),
  {
    ActiveContract: 'JsActiveContract',
    IncompleteUnassigned: 'JsIncompleteUnassigned',
    IncompleteAssigned: 'JsIncompleteAssigned',
  },
);

/** An element of a snapshot, as the participant sends it. */
export interface ContractElement {
  /** The entry. */
  readonly contractEntry: ContractEntry;
  /** The workflow of the update that activated the contract. */
  readonly workflowId?: string;
  /** Continues the snapshot after this element; absent before 3.5, empty in pages. */
  readonly streamContinuationToken?: string;
}

/** Codec of `ContractElement`. */
export const ContractElement: t.Type<ContractElement, unknown> = message<ContractElement>('ContractElement', {
  contractEntry: ContractEntry,
  workflowId: optional(text),
  streamContinuationToken: optional(text),
});

/** A page of a snapshot. */
export interface ActiveContractsPage {
  /** The elements. */
  readonly activeContracts: readonly ContractElement[];
  /** The offset of the snapshot. */
  readonly activeAtOffset: Offset;
  /** Continues the snapshot; absent on the last page. */
  readonly nextPageToken?: string;
}

/** Codec of `ActiveContractsPage`. */
export const ActiveContractsPage: t.Type<ActiveContractsPage, unknown> = message<ActiveContractsPage>(
  'ActiveContractsPage',
  { activeContracts: list(ContractElement), activeAtOffset: Offset, nextPageToken: optional(text) },
);
