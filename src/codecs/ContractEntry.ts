import type * as t from 'io-ts';
import { CreatedEvent } from './Event.js';
import { isRecord } from './internal/Codec.js';
import { list } from './internal/collection.js';
import { optional, tag, text } from './internal/field.js';
import { message } from './internal/message.js';
import { oneOf, type UnknownVariant } from './internal/variant.js';
import { AssignedEvent, UnassignedEvent } from './Reassignment.js';
import { Int64, Offset } from './scalars.js';

/**
 * A contract is active on a synchronizer. A contract that is being reassigned may be active on several.
 *
 * @category Contracts
 */
export interface ActiveContract {
  /** The kind of entry; `JsActiveContract` on the wire. */
  readonly _tag: 'ActiveContract';
  /** The contract. Its offset is that of its last activation on this synchronizer. */
  readonly createdEvent: CreatedEvent;
  /** The synchronizer. */
  readonly synchronizerId: string;
  /** The number of reassignments of the contract at its last activation on this synchronizer; 0 for a creation. */
  readonly reassignmentCounter: Int64;
}

/**
 * A contract was unassigned from a synchronizer, and not yet assigned to another: it is in flight.
 *
 * @category Contracts
 */
export interface IncompleteUnassigned {
  /** The kind of entry; `JsIncompleteUnassigned` on the wire. */
  readonly _tag: 'IncompleteUnassigned';
  /** The contract, as it was activated last on the source. */
  readonly createdEvent: CreatedEvent;
  /** The unassignment. */
  readonly unassignedEvent: UnassignedEvent;
}

/**
 * A contract was assigned to a synchronizer before its unassignment from the other was seen: its entry on the source is out
 * of date. If it is still active on the target, it has an {@link ActiveContract} there as well.
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
 * An entry of a kind that this version does not know, undecoded. `JsEmpty` is one, which means nothing.
 *
 * @category Contracts
 */
export interface UnknownContractEntry {
  /** The kind of entry. */
  readonly _tag: 'UnknownContractEntry';
  /** The name of the kind on the wire. */
  readonly variant: string;
  /** The content, undecoded. */
  readonly value: unknown;
}

/** @inline */
type Known = ActiveContract | IncompleteUnassigned | IncompleteAssigned;

/**
 * One entry of a snapshot of the active contracts, a union by `_tag`.
 *
 * @category Contracts
 */
export type ContractEntry = Known | UnknownContractEntry;

const unknownEntry: UnknownVariant<UnknownContractEntry> = {
  is: (u): u is UnknownContractEntry => isRecord(u) && u['_tag'] === 'UnknownContractEntry',
  decode: (variant, value) => ({ _tag: 'UnknownContractEntry', variant, value }),
  expected: 'an entry',
};

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
  unknownEntry,
  {
    ActiveContract: 'JsActiveContract',
    IncompleteUnassigned: 'JsIncompleteUnassigned',
    IncompleteAssigned: 'JsIncompleteAssigned',
  },
);

/** An element of a snapshot as it is sent. */
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
