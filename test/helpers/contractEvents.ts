/** Events of contracts, updates and entries of snapshots in their wire form. All contracts are marbles of Alice. */

import { reassignmentWith, transactionWith } from './wire.js';

const alice = 'alice::1220ab';
const time = '2026-07-24T10:00:00Z';

/** The template of all contracts here, as a query names it. */
export const marble = '#marbles:Marbles:Marble';

const firstPackage = '1220aaaa';
const upgradedPackage = '1220bbbb';

/** What a test may say of an activation. */
export interface Activation {
  readonly contractId: string;
  readonly offset: number;
  readonly nodeId?: number;
  /** `package-id:Module:Entity`. */
  readonly templateId?: string;
  readonly packageName?: string;
  readonly createArgument?: unknown;
  readonly interfaceViews?: readonly object[];
  readonly witnessParties?: readonly string[];
  readonly signatories?: readonly string[];
  readonly observers?: readonly string[];
  /** `undefined` for an event of 3.3, which lacks it. */
  readonly acsDelta?: boolean | undefined;
}

/** The content of a created event. */
export const createdEvent = (activation: Activation): object => ({
  nodeId: 0,
  templateId: `${firstPackage}:Marbles:Marble`,
  packageName: 'marbles',
  contractKey: null,
  contractKeyHash: '',
  createArgument: { owner: alice, color: colorOf(activation.contractId), size: 7 },
  createdEventBlob: '',
  interfaceViews: [],
  witnessParties: [alice],
  signatories: [alice],
  observers: [],
  createdAt: time,
  representativePackageId: firstPackage,
  acsDelta: true,
  ...activation,
});

const colors = ['red', 'green', 'blue', 'black'] as const;
const colorOf = (contractId: string): string | undefined => colors[(contractId.codePointAt(0) ?? 0) % colors.length];

/** `{"CreatedEvent": ...}` of a transaction. */
export const created = (activation: Activation): object => ({ CreatedEvent: createdEvent(activation) });

/** `{"ArchivedEvent": ...}` of a transaction; by default under a package id that the contract was not created with. */
export const archived = (contractId: string, offset: number, nodeId = 0, packageId = upgradedPackage): object => ({
  ArchivedEvent: {
    offset,
    nodeId,
    contractId,
    templateId: `${packageId}:Marbles:Marble`,
    packageName: 'marbles',
    witnessParties: [alice],
    implementedInterfaces: [],
  },
});

/** `{"ExercisedEvent": ...}` of a transaction in the shape LEDGER_EFFECTS. */
export const exercised = (
  contractId: string,
  offset: number,
  { consuming, acsDelta }: { readonly consuming: boolean; readonly acsDelta: boolean | undefined },
): object => ({
  ExercisedEvent: {
    offset,
    nodeId: 0,
    contractId,
    templateId: `${firstPackage}:Marbles:Marble`,
    interfaceId: null,
    packageName: 'marbles',
    choice: 'Archive',
    choiceArgument: {},
    actingParties: [alice],
    consuming,
    witnessParties: [alice],
    lastDescendantNodeId: 0,
    exerciseResult: {},
    implementedInterfaces: [],
    acsDelta,
  },
});

/** The way of a contract from one synchronizer to another, and how many there were with it. */
export interface Move {
  readonly source: string;
  readonly target: string;
  readonly reassignmentCounter: number;
}

const moveOf = (contractId: string, move: Move): object => ({
  source: move.source,
  target: move.target,
  submitter: alice,
  reassignmentId: `${contractId}-${move.reassignmentCounter}`,
  reassignmentCounter: move.reassignmentCounter,
});

/** The content of an assigned event. */
export const assignedEvent = (activation: Activation, move: Move): object => ({
  ...moveOf(activation.contractId, move),
  createdEvent: createdEvent(activation),
});

/** `{"JsAssignmentEvent": ...}` of a reassignment. */
export const assigned = (activation: Activation, move: Move): object => ({
  JsAssignmentEvent: assignedEvent(activation, move),
});

/** The content of an unassigned event. */
export const unassignedEvent = (contractId: string, offset: number, move: Move, nodeId = 0): object => ({
  ...moveOf(contractId, move),
  contractId,
  templateId: `${firstPackage}:Marbles:Marble`,
  packageName: 'marbles',
  assignmentExclusivity: null,
  witnessParties: [alice],
  offset,
  nodeId,
});

/** `{"JsUnassignedEvent": {"value": ...}}` of a reassignment. */
export const unassigned = (contractId: string, offset: number, move: Move, nodeId = 0): object => ({
  JsUnassignedEvent: { value: unassignedEvent(contractId, offset, move, nodeId) },
});

/** `{"update": {"Transaction": ...}}`. */
export const transactionOf = (offset: number, synchronizerId: string, events: readonly object[]): object =>
  transactionWith(offset, { synchronizerId, events });

/** `{"update": {"Reassignment": ...}}`. */
export const reassignmentOf = (offset: number, synchronizerId: string, events: readonly object[]): object =>
  reassignmentWith(offset, { synchronizerId, events });

const element = (contractEntry: object): object => ({ workflowId: '', contractEntry, streamContinuationToken: '' });

/** An element of a snapshot: the contract is active on a synchronizer. */
export const active = (activation: Activation, synchronizerId: string, reassignmentCounter = 0): object =>
  element({ JsActiveContract: { createdEvent: createdEvent(activation), synchronizerId, reassignmentCounter } });

/** An element of a snapshot: the contract was unassigned, and not yet assigned. */
export const incompleteUnassigned = (activation: Activation, offset: number, move: Move): object =>
  element({
    JsIncompleteUnassigned: {
      createdEvent: createdEvent(activation),
      unassignedEvent: unassignedEvent(activation.contractId, offset, move),
    },
  });

/** An element of a snapshot that has the created event of one contract and the unassigned event of another. */
export const crossed = (createdId: string, unassignedId: string, offset: number): object =>
  element({
    JsIncompleteUnassigned: {
      createdEvent: createdEvent({ contractId: createdId, offset: 1 }),
      unassignedEvent: unassignedEvent(unassignedId, offset, {
        source: 'home::1220ab',
        target: 'away::1220ab',
        reassignmentCounter: 1,
      }),
    },
  });

/** An element of a snapshot: the contract was assigned, and its unassignment is not known yet. */
export const incompleteAssigned = (activation: Activation, move: Move): object =>
  element({ JsIncompleteAssigned: { assignedEvent: assignedEvent(activation, move) } });
