import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { WireUpdate } from '../../src/sandbox/index.js';
import { ContractHistory } from '../../src/sandbox/ledger/ContractHistory.js';
import { contractHistories, contractsAt, type ContractState } from '../helpers/contractHistory.js';
import { effort } from '../helpers/effort.js';
import { at, sandboxWith } from './client.js';
import { archive, assign, creations, unassign } from './snapshots.js';

interface Place {
  readonly synchronizerId: string;
  readonly reassignmentCounter: number;
}

const placeOf = (place: Place | undefined) => place && `${place.reassignmentCounter} ${place.synchronizerId}`;

/** The place of a contract that is on a synchronizer. */
const truthOf = (state: ContractState | undefined): Place | undefined =>
  state && 'synchronizerId' in state.location ? { ...state, ...state.location } : undefined;

describe('the present synchronizer of a contract', () => {
  it('is where the last thing happened to it, whatever the order in which the synchronizers report', () => {
    fc.assert(
      fc.property(contractHistories({ maxEvents: 40 }), (updates) => {
        const history = new ContractHistory();
        const ids = new Set(updates.flatMap(({ events }) => events.map(({ contractId }) => contractId)));
        for (const { offset, element } of updates) {
          history.add(at(element, 'update') as WireUpdate);
          const truth = contractsAt(updates, offset);
          expect([...ids].map((id) => placeOf(history.get(id)))).toEqual(
            [...ids].map((id) => placeOf(truthOf(truth.get(id)))),
          );
        }
      }),
      { numRuns: effort(100, 3000) },
    );
  });

  it('is forgotten once an archived contract has no late events to come', () => {
    fc.assert(
      fc.property(contractHistories({ maxEvents: 40 }), (updates) => {
        const history = new ContractHistory();
        for (const { element } of updates) history.add(at(element, 'update') as WireUpdate);
        const truth = contractsAt(updates, Infinity);
        const ids = new Set(updates.flatMap(({ events }) => events.map(({ contractId }) => contractId)));
        for (const id of ids) expect([id, history.stateOf(id) !== undefined]).toEqual([id, truth.has(id)]);
      }),
      { numRuns: effort(100, 3000) },
    );
  });

  it('is kept when a contract leaves and comes back as by party replication', () => {
    const history = new ContractHistory();
    const there = { source: 's', target: 's', reassignmentCounter: 3 };
    const createdEvent = { contractId: '00aa' };
    const move = (...events: readonly object[]) => {
      history.add({ Reassignment: { value: { events, offset: 1, workflowId: '' } } } as unknown as WireUpdate);
    };
    move({ JsAssignmentEvent: { ...there, createdEvent } });
    expect(history.get('00aa')).toMatchObject({ synchronizerId: 's', reassignmentCounter: 3 });
    move({ JsUnassignedEvent: { value: { ...there, contractId: '00aa' } } });
    expect(history.stateOf('00aa')).toBeUndefined();
    move({ JsAssignmentEvent: { ...there, createdEvent } });
    expect(history.get('00aa')).toMatchObject({ synchronizerId: 's' });
  });
});

describe('an appended reassignment', () => {
  it('gets its absent fields from its other half, in either order', async () => {
    const sandbox = await sandboxWith();
    const [source, target] = sandbox.synchronizers;
    sandbox.append(...creations('00aa', '00bb'), unassign('00aa'), assign('00bb'), assign('00aa'), unassign('00bb'));
    const route = { source, target, reassignmentCounter: 1, reassignmentId: expect.stringMatching(/^00\w+/) };
    const reassignments = sandbox.updates.slice(2).map((update) => at(update, 'Reassignment', 'value'));
    const [left, ahead, arrived, late] = reassignments.map((value) => at(value, 'events', 0));
    expect(at(left, 'JsUnassignedEvent', 'value')).toMatchObject(route);
    for (const assignment of [ahead, arrived]) expect(at(assignment, 'JsAssignmentEvent')).toMatchObject(route);
    expect(at(late, 'JsUnassignedEvent', 'value')).toMatchObject(route);
    const id = (half: unknown) => at(half, 'JsAssignmentEvent', 'reassignmentId');
    expect(at(left, 'JsUnassignedEvent', 'value', 'reassignmentId')).toBe(id(arrived));
    expect(id(arrived)).not.toBe(id(ahead));
    expect(reassignments.map((value) => at(value, 'synchronizerId'))).toEqual([source, target, target, source]);
  });

  it('goes on from where the contract is, and so does its archive', async () => {
    const sandbox = await sandboxWith();
    const [first, second] = sandbox.synchronizers;
    sandbox.append(...creations('00aa'), unassign('00aa'), assign('00aa'), unassign('00aa'));
    expect(at(sandbox.updates[3], 'Reassignment', 'value', 'events', 0, 'JsUnassignedEvent', 'value')).toMatchObject({
      source: second,
      target: first,
      reassignmentCounter: 2,
    });
    sandbox.append(...creations('00bb'), unassign('00bb'), assign('00bb'), archive('00bb'));
    expect(at(sandbox.updates.at(-1), 'Transaction', 'value', 'synchronizerId')).toBe(second);
  });
});
