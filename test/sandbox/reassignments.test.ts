import { describe, expect, it } from '@jest/globals';
import type { Sandbox, WireUpdate } from '../../src/sandbox/index.js';
import { effort } from '../helpers/effort.js';
import { sandboxWith } from './client.js';

const three = ['a', 'b', 'c'].map((name) => `${name}::1220${'ab'.repeat(32)}`);

/** What happens to a contract on one synchronizer. */
interface Step {
  readonly contractId: string;
  readonly synchronizerId: string;
  readonly kind: 'created' | 'archived' | 'unassigned' | 'assigned' | 'used';
  /** The reassignment counter; of an archive or a use, none. */
  readonly counter?: number;
}

const stepsOf = (update: WireUpdate): readonly Step[] => {
  if ('Transaction' in update) {
    const { events, synchronizerId } = update.Transaction.value;
    return events.flatMap((event): readonly Step[] => {
      if ('CreatedEvent' in event) {
        const { contractId, acsDelta } = event.CreatedEvent;
        return acsDelta ? [{ contractId, synchronizerId, kind: 'created', counter: 0 }] : [];
      }
      if ('ArchivedEvent' in event)
        return [{ contractId: event.ArchivedEvent.contractId, synchronizerId, kind: 'archived' }];
      const { contractId, consuming } = event.ExercisedEvent;
      return consuming ? [] : [{ contractId, synchronizerId, kind: 'used' }];
    });
  }
  if (!('Reassignment' in update)) return [];
  const { events, synchronizerId } = update.Reassignment.value;
  return events.map((event): Step => {
    if ('JsUnassignedEvent' in event) {
      const { contractId, source, reassignmentCounter: counter } = event.JsUnassignedEvent.value;
      return {
        contractId,
        synchronizerId: source === synchronizerId ? source : 'another',
        kind: 'unassigned',
        counter,
      };
    }
    const { createdEvent, target, reassignmentCounter: counter } = event.JsAssignmentEvent;
    const { contractId } = createdEvent;
    return { contractId, synchronizerId: target === synchronizerId ? target : 'another', kind: 'assigned', counter };
  });
};

const steps = ({ updates }: Sandbox): readonly Step[] => updates.flatMap(stepsOf);

/** The steps of each contract on each synchronizer, in order. */
function stepsByPlace(sandbox: Sandbox): ReadonlyMap<string, readonly Step[]> {
  const byPlace = new Map<string, Step[]>();
  for (const step of steps(sandbox)) {
    const place = `${step.contractId} ${step.synchronizerId}`;
    byPlace.set(place, [...(byPlace.get(place) ?? []), step]);
  }
  return byPlace;
}

/** Checks that a contract is used, archived and unassigned only where it is active, and that its counters ascend. */
function expectOrder(sandbox: Sandbox): void {
  for (const [place, found] of stepsByPlace(sandbox)) {
    let isActive = false;
    let last = -1;
    const wrong: Step[] = [];
    for (const step of found) {
      const { kind, counter } = step;
      const begins = kind === 'created' || kind === 'assigned';
      if (isActive === begins) wrong.push(step);
      if (kind !== 'used') isActive = begins;
      if (counter !== undefined && counter <= last) wrong.push(step);
      last = counter ?? last;
    }
    if (wrong.length > 0) expect([place, found, wrong]).toEqual([place, found, []]);
  }
}

/** The halves of each reassignment, in order. */
function moves(sandbox: Sandbox): ReadonlyMap<string, readonly Step['kind'][]> {
  const found = new Map<string, readonly Step['kind'][]>();
  for (const { contractId, kind, counter } of steps(sandbox)) {
    const move = `${contractId} ${counter ?? ''}`;
    if (kind === 'assigned' || kind === 'unassigned') found.set(move, [...(found.get(move) ?? []), kind]);
  }
  return found;
}

const someSeeds = Array.from({ length: effort(2, 50) }, (_, index) => index + 1);

describe('generated reassignments', () => {
  it.each(someSeeds)('keep the order of each synchronizer, with seed %i', async (seed) => {
    const sandbox = await sandboxWith({ synchronizers: three });
    sandbox.generate(1_000, { seed });
    sandbox.generate(500, { seed: seed + 1, variants: ['Reassignment'] });
    sandbox.generate(300, { seed: seed + 2, variants: ['Transaction'] });
    sandbox.generate(500, { seed: seed + 3 });
    expectOrder(sandbox);
    expect(steps(sandbox).filter(({ synchronizerId }) => synchronizerId === 'another')).toEqual([]);
    expect([...moves(sandbox).values()].filter((halves) => new Set(halves).size < halves.length)).toEqual([]);
  });

  it('come in any order across synchronizers', async () => {
    const sandbox = await sandboxWith({ synchronizers: three });
    sandbox.generate(3_000);
    const orders = new Map<string, number>();
    for (const halves of moves(sandbox).values()) {
      const order = halves.join(' ');
      orders.set(order, (orders.get(order) ?? 0) + 1);
    }
    expect(orders.get('unassigned assigned')).toBeGreaterThan(50);
    expect(orders.get('assigned unassigned')).toBeGreaterThan(30);
    // those at the end of the ledger
    expect((orders.get('assigned') ?? 0) + (orders.get('unassigned') ?? 0)).toBeGreaterThan(0);
  });

  it('are late: after an archive on the target, after a further move, and with a late creation', async () => {
    const sandbox = await sandboxWith({ synchronizers: three });
    sandbox.generate(5_000);
    const archived = new Set<string>();
    const highest = new Map<string, number>();
    const late = { archived: 0, moved: 0, created: 0 };
    for (const { contractId, kind, counter = 0 } of steps(sandbox)) {
      if (kind === 'unassigned' && archived.has(contractId)) late.archived += 1;
      if (kind === 'unassigned' && (highest.get(contractId) ?? 0) > counter) late.moved += 1;
      if (kind === 'created' && highest.has(contractId)) late.created += 1;
      if (kind === 'archived') archived.add(contractId);
      if (kind !== 'used') highest.set(contractId, Math.max(counter, highest.get(contractId) ?? 0));
    }
    expect(late.archived).toBeGreaterThan(5);
    expect(late.moved).toBeGreaterThan(5);
    expect(late.created).toBeGreaterThan(2);
  });

  it('leave contracts active on two synchronizers at many offsets, and archived ones active on one', async () => {
    const sandbox = await sandboxWith();
    const active = new Map<string, Set<string>>();
    const archived = new Set<string>();
    const offsets = { twice: 0, ghosts: 0, inFlight: 0 };
    const inFlight = new Set<string>();
    sandbox.generate(2_000);
    for (const update of sandbox.updates) {
      for (const { contractId, synchronizerId, kind } of stepsOf(update)) {
        const places = active.get(contractId) ?? new Set();
        if (kind === 'created' || kind === 'assigned') active.set(contractId, places.add(synchronizerId));
        if (kind === 'archived' || kind === 'unassigned') places.delete(synchronizerId);
        if (places.size === 0) active.delete(contractId);
        if (kind === 'archived') archived.add(contractId);
        if (kind === 'unassigned' && places.size === 0 && !archived.has(contractId)) inFlight.add(contractId);
        else inFlight.delete(contractId);
      }
      const entries = [...active];
      offsets.twice += Number(entries.some(([, places]) => places.size > 1));
      offsets.ghosts += Number(entries.some(([contractId]) => archived.has(contractId)));
      offsets.inFlight += Number(inFlight.size > 0);
    }
    expect(offsets.twice).toBeGreaterThan(200);
    expect(offsets.ghosts).toBeGreaterThan(100);
    expect(offsets.inFlight).toBeGreaterThan(200);
  });

  it('continue in order after a restore', async () => {
    const sandbox = await sandboxWith({ synchronizers: three });
    sandbox.generate(1_000);
    for (let seed = 2; seed < 12; seed += 1) {
      sandbox.restore(sandbox.ledgerEnd - 40);
      sandbox.generate(100, { seed });
      expectOrder(sandbox);
    }
  });

  it('are none with one synchronizer', async () => {
    const sandbox = await sandboxWith({ synchronizers: three.slice(0, 1) });
    sandbox.generate(500);
    expect(moves(sandbox).size).toBe(0);
  });
});
