import type { OperatorFunction } from 'rxjs';
import type { ArchivedEvent, CreatedEvent, ExercisedEvent, UnknownEvent } from '../../src/codecs/Event.js';
import type { AssignedEvent, Reassignment, UnassignedEvent } from '../../src/codecs/Reassignment.js';
import type { OffsetCheckpoint, SynchronizerTime } from '../../src/codecs/OffsetCheckpoint.js';
import type { TopologyTransaction } from '../../src/codecs/TopologyTransaction.js';
import type { Transaction } from '../../src/codecs/Transaction.js';
import type { UnknownUpdate, Update } from '../../src/codecs/Update.js';
import type { EventOf } from '../../src/operators/toEvents.js';
import type { ParticipantAuthorizationAdded, UnknownTopologyEvent } from '../helpers/wireTypes.js';
import { marbles } from '../helpers/time.js';

export const GLOBAL = 'global::1220aa';
export const PRIVATE = 'private::1220bb';
export const OTHER = 'other::1220cc';

const ALICE = 'alice::1220dd';
const PARTICIPANT = 'participant::1220ee';

/** A record time, in microseconds after ten o'clock. */
export const at = (micros: number): string => `2026-07-24T10:00:00.${String(micros).padStart(6, '0')}Z`;

export const created = (fields: Partial<CreatedEvent> = {}): CreatedEvent => ({
  _tag: 'CreatedEvent',
  offset: 1,
  nodeId: 0,
  contractId: '00c1',
  templateId: '1220f0:Finance.Bonds:Bond',
  packageName: 'finance',
  createdAt: at(0),
  createArgument: { owner: ALICE },
  interfaceViews: [],
  witnessParties: [ALICE],
  signatories: [ALICE],
  observers: [],
  ...fields,
});

export const archived = (fields: Partial<ArchivedEvent> = {}): ArchivedEvent => ({
  _tag: 'ArchivedEvent',
  offset: 2,
  nodeId: 1,
  contractId: '00c1',
  templateId: '1220f0:Finance.Bonds:Bond',
  packageName: 'finance',
  witnessParties: [ALICE],
  implementedInterfaces: [],
  ...fields,
});

export const exercised = (fields: Partial<ExercisedEvent> = {}): ExercisedEvent => ({
  _tag: 'ExercisedEvent',
  offset: 3,
  nodeId: 0,
  contractId: '00c1',
  templateId: '1220f0:Finance.Bonds:Bond',
  packageName: 'finance',
  choice: 'Transfer',
  choiceArgument: {},
  actingParties: [ALICE],
  consuming: true,
  witnessParties: [ALICE],
  lastDescendantNodeId: 0,
  implementedInterfaces: [],
  ...fields,
});

export const unknownEvent: UnknownEvent = { _tag: 'UnknownEvent', variant: 'Later', offset: 3, value: { offset: 3 } };

/** An unassignment of a 3.3 ledger, which may omit the `templateId`. */
export const formerUnassigned: UnassignedEvent = {
  _tag: 'UnassignedEvent',
  reassignmentId: '00r1',
  contractId: '00c1',
  packageName: 'finance',
  source: GLOBAL,
  target: PRIVATE,
  reassignmentCounter: 1,
  witnessParties: [ALICE],
  offset: 4,
  nodeId: 0,
};

export const unassigned = (fields: Partial<UnassignedEvent> = {}): UnassignedEvent => ({
  ...formerUnassigned,
  templateId: '1220f0:Finance.Bonds:Bond',
  ...fields,
});

export const assigned = (fields: Partial<AssignedEvent> = {}): AssignedEvent => ({
  _tag: 'AssignedEvent',
  source: GLOBAL,
  target: PRIVATE,
  reassignmentId: '00r1',
  reassignmentCounter: 1,
  createdEvent: created({ offset: 5 }),
  ...fields,
});

export const added: ParticipantAuthorizationAdded = {
  _tag: 'ParticipantAuthorizationAdded',
  partyId: ALICE,
  participantId: PARTICIPANT,
  participantPermission: 'PARTICIPANT_PERMISSION_SUBMISSION',
};

export const unknownTopologyEvent: UnknownTopologyEvent = {
  _tag: 'UnknownTopologyEvent',
  variant: 'Later',
  value: { partyId: ALICE },
};

/** An event of every kind, for marble diagrams. */
export const eventsByLetter: Readonly<Record<string, EventOf<Update>>> = {
  c: created(),
  a: archived(),
  x: exercised(),
  k: unknownEvent,
  u: unassigned(),
  s: assigned(),
  t: added,
  n: unknownTopologyEvent,
};

export const transaction = (fields: Partial<Transaction> = {}): Transaction => ({
  _tag: 'Transaction',
  updateId: '1220a1',
  effectiveAt: at(0),
  events: [created(), archived()],
  offset: 1,
  synchronizerId: GLOBAL,
  recordTime: at(1),
  ...fields,
});

/** A reassignment of a 3.3 ledger, which omits the `synchronizerId`. */
export const formerReassignment = (fields: Partial<Reassignment> = {}): Reassignment => ({
  _tag: 'Reassignment',
  updateId: '1220a2',
  offset: 4,
  events: [unassigned()],
  recordTime: at(2),
  ...fields,
});

export const reassignment = (fields: Partial<Reassignment> = {}): Reassignment => ({
  ...formerReassignment(),
  synchronizerId: GLOBAL,
  ...fields,
});

export const topology = (fields: Partial<TopologyTransaction> = {}): TopologyTransaction => ({
  _tag: 'TopologyTransaction',
  updateId: '1220a3',
  events: [added],
  offset: 6,
  synchronizerId: GLOBAL,
  recordTime: at(3),
  ...fields,
});

export const checkpoint = (...synchronizerTimes: readonly SynchronizerTime[]): OffsetCheckpoint => ({
  _tag: 'OffsetCheckpoint',
  offset: 7,
  synchronizerTimes,
});

export const unknownUpdate = (value: unknown = { value: { offset: 8 } }): UnknownUpdate => ({
  _tag: 'UnknownUpdate',
  variant: 'Later',
  offset: 8,
  value,
});

/** Checks that an operator, given the values at `from`, emits them, or those of `as`, at `to`. */
export const emits = <A, B>(
  operator: OperatorFunction<A, B>,
  values: Readonly<Record<string, A>>,
  { from, to, as = values }: { readonly from: string; readonly to: string; readonly as?: object },
): void => {
  marbles(({ cold, expectObservable }) => {
    expectObservable(cold(from, values).pipe(operator)).toBe(to, { ...as });
  });
};
