import { describe, expect, it } from '@jest/globals';
import type { Sandbox, WireEvent, WireUpdate } from '../../src/sandbox/index.js';
import { everything, offsets, post, sandboxWith } from './support.js';

const valueOf = (update: WireUpdate) => {
  if ('Transaction' in update) return update.Transaction.value;
  return 'Reassignment' in update ? update.Reassignment.value : update.TopologyTransaction.value;
};

function kinds(sandbox: Sandbox): ReadonlySet<string> {
  const names = (value: object) => Object.keys(value);
  return new Set(
    sandbox.updates.flatMap((update) => [
      ...names(update),
      ...valueOf(update).events.flatMap((event) => names('event' in event ? event.event : event)),
    ]),
  );
}

describe('generated traffic', () => {
  it('is of all kinds', async () => {
    const sandbox = await sandboxWith();
    sandbox.generate(500);
    expect([...kinds(sandbox)].sort()).toEqual([
      'ArchivedEvent',
      'CreatedEvent',
      'ExercisedEvent',
      'JsAssignmentEvent',
      'JsUnassignedEvent',
      'ParticipantAuthorizationAdded',
      'ParticipantAuthorizationChanged',
      'ParticipantAuthorizationOnboarding',
      'ParticipantAuthorizationRevoked',
      'Reassignment',
      'TopologyTransaction',
      'Transaction',
    ]);
  });

  it('is of the kinds asked for', async () => {
    const sandbox = await sandboxWith();
    sandbox.generate(50, { variants: ['Reassignment'] });
    expect(new Set(sandbox.updates.flatMap((update) => Object.keys(update)))).toEqual(new Set(['Reassignment']));
  });

  it('is the same for the same seed', async () => {
    const [one, two, other] = [await sandboxWith(), await sandboxWith(), await sandboxWith()];
    one.generate(200, { seed: 7 });
    two.generate(200, { seed: 7 });
    other.generate(200, { seed: 8 });
    expect(two.updates).toEqual(one.updates);
    expect(other.updates).not.toEqual(one.updates);
  });

  it('ascends with gaps, and record times ascend on each synchronizer', async () => {
    const sandbox = await sandboxWith();
    const end = sandbox.generate(500);
    expect(end).toBe(sandbox.ledgerEnd);
    expect(sandbox.updates).toHaveLength(500);
    expect(end).toBeGreaterThan(500);
    for (const synchronizer of sandbox.synchronizers) {
      const there = sandbox.updates.map(valueOf).filter(({ synchronizerId }) => synchronizerId === synchronizer);
      const times = there.map(({ recordTime: time }) => time.slice(0, 19) + time.slice(20, -1).padEnd(6, '0'));
      expect(there.length).toBeGreaterThan(100);
      expect(times).toEqual([...new Set(times)].sort());
    }
  });

  it('ends and moves live contracts only, where they are', async () => {
    const sandbox = await sandboxWith();
    sandbox.generate(2000);
    const places = new Map<string, string>();
    const apply = (event: WireEvent, synchronizerId: string) => {
      if ('CreatedEvent' in event && event.CreatedEvent.acsDelta)
        places.set(event.CreatedEvent.contractId, synchronizerId);
      if (!('ArchivedEvent' in event)) return;
      expect(places.get(event.ArchivedEvent.contractId)).toBe(synchronizerId);
      places.delete(event.ArchivedEvent.contractId);
    };
    for (const update of sandbox.updates) {
      if ('Transaction' in update) {
        const { events, synchronizerId } = update.Transaction.value;
        for (const event of events) apply(event, synchronizerId);
      }
      if (!('Reassignment' in update)) continue;
      for (const event of update.Reassignment.value.events) {
        if ('JsAssignmentEvent' in event) {
          const { createdEvent, target } = event.JsAssignmentEvent;
          expect(places.has(createdEvent.contractId)).toBe(false);
          places.set(createdEvent.contractId, target);
        } else {
          const { contractId, source } = event.JsUnassignedEvent.value;
          expect(places.get(contractId)).toBe(source);
          places.delete(contractId);
        }
      }
    }
  });

  it('leaves contracts of external parties alone', async () => {
    const sandbox = await sandboxWith();
    const { party } = sandbox.externalParty('eve');
    sandbox.append({
      Transaction: { value: { events: [{ CreatedEvent: { contractId: '00ee', signatories: [party] } }] } },
    });
    sandbox.generate(1000);
    expect(JSON.stringify(sandbox.updates.slice(1))).not.toContain(party);
  });

  it('comes by the thousands in no time, and is read from the middle', async () => {
    const sandbox = await sandboxWith();
    const before = performance.now();
    sandbox.generate(10_000);
    expect(performance.now() - before).toBeLessThan(30_000);
    const [, last] = sandbox.updates.slice(-2).map((update) => valueOf(update).offset);
    const body = { beginExclusive: sandbox.ledgerEnd - 1, endInclusive: sandbox.ledgerEnd, updateFormat: everything };
    expect(offsets(await post(sandbox, '/v2/updates', body)).every((offset) => offset === last)).toBe(true);
  });
});
