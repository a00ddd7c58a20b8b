import { describe, expect, it } from '@jest/globals';
import type { Sandbox, WireEvent, WireUpdate } from '../../src/sandbox/index.js';
import { everything } from './requests.js';
import { offsets, post, sandboxWith } from './client.js';
import { effort } from '../helpers/effort.js';

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
  it('has all kinds of update', async () => {
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

  it('has the requested kinds of update', async () => {
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

  it('has ascending offsets with gaps, and ascending record times on each synchronizer', async () => {
    const sandbox = await sandboxWith();
    const end = sandbox.generate(500);
    expect(end).toBe(sandbox.ledgerEnd);
    expect(sandbox.updates).toHaveLength(500);
    expect(end).toBeGreaterThan(500);
    for (const synchronizer of sandbox.synchronizers) {
      const values = sandbox.updates.map(valueOf).filter(({ synchronizerId }) => synchronizerId === synchronizer);
      const times = values.map(({ recordTime: time }) => time.slice(0, 19) + time.slice(20, -1).padEnd(6, '0'));
      expect(values.length).toBeGreaterThan(100);
      expect(times).toEqual([...new Set(times)].sort());
    }
  });

  it('archives and reassigns only active contracts, on their synchronizer', async () => {
    const sandbox = await sandboxWith();
    sandbox.generate(2000);
    const synchronizers = new Map<string, string>();
    const apply = (event: WireEvent, synchronizerId: string) => {
      if ('CreatedEvent' in event && event.CreatedEvent.acsDelta)
        synchronizers.set(event.CreatedEvent.contractId, synchronizerId);
      if (!('ArchivedEvent' in event)) return;
      expect(synchronizers.get(event.ArchivedEvent.contractId)).toBe(synchronizerId);
      synchronizers.delete(event.ArchivedEvent.contractId);
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
          expect(synchronizers.has(createdEvent.contractId)).toBe(false);
          synchronizers.set(createdEvent.contractId, target);
        } else {
          const { contractId, source } = event.JsUnassignedEvent.value;
          expect(synchronizers.get(contractId)).toBe(source);
          synchronizers.delete(contractId);
        }
      }
    }
  });

  it('does not touch contracts of external parties', async () => {
    const sandbox = await sandboxWith();
    const { party } = sandbox.externalParty('eve');
    sandbox.append({
      Transaction: { value: { events: [{ CreatedEvent: { contractId: '00ee', signatories: [party] } }] } },
    });
    sandbox.generate(1000);
    expect(JSON.stringify(sandbox.updates.slice(1))).not.toContain(party);
  });

  it('is fast to generate, and fast to read from the middle', async () => {
    const sandbox = await sandboxWith();
    const start = performance.now();
    sandbox.generate(effort(2_000, 10_000));
    expect(performance.now() - start).toBeLessThan(30_000);
    const [, last] = sandbox.updates.slice(-2).map((update) => valueOf(update).offset);
    const body = { beginExclusive: sandbox.ledgerEnd - 1, endInclusive: sandbox.ledgerEnd, updateFormat: everything };
    expect(offsets(await post(sandbox, '/v2/updates', body)).every((offset) => offset === last)).toBe(true);
  });
});
