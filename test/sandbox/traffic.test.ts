import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Sandbox, WireUpdate } from '../../src/sandbox/index.js';
import { ContractHistory } from '../../src/sandbox/ledger/ContractHistory.js';
import { parseMicros } from '../../src/sandbox/wire/values.js';
import { updateValue } from '../../src/sandbox/wire/WireUpdate.js';
import { contractHistories, contractsAt, type ContractState } from '../helpers/contractHistory.js';
import { effort } from '../helpers/effort.js';
import { at, keys, offsets, post, sandboxWith } from './client.js';
import { commandsOf, createAsset, exerciseAsset, transactionPath, withParties } from './commands.js';
import { archive, assign, creation, creations, readUpdates, unassign } from './requests.js';

const three = ['a', 'b', 'c'].map((name) => `${name}::1220${'ab'.repeat(32)}`);

/** The updates without their times. */
const timeless = ({ updates }: Sandbox): unknown =>
  JSON.parse(JSON.stringify(updates).replace(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"time"'));

/** The record times in microseconds, optionally of one synchronizer. */
const times = ({ updates }: Sandbox, synchronizer?: string): readonly number[] =>
  updates
    .map(updateValue)
    .filter(({ synchronizerId }) => synchronizerId === (synchronizer ?? synchronizerId))
    .map(({ recordTime }) => parseMicros(recordTime));

describe('generated traffic', () => {
  it('has all kinds of update, or the requested ones, and no contracts of external parties', async () => {
    const sandbox = await sandboxWith();
    const { party } = sandbox.externalParty('eve');
    sandbox.append(creation({ contractId: '00ee', signatories: [party] }));
    sandbox.generate(1000);
    const kinds = sandbox.updates.flatMap((update) => [
      ...keys(update),
      ...updateValue(update).events.flatMap((event) => keys('event' in event ? event.event : event)),
    ]);
    expect([...new Set(kinds)].sort()).toEqual([
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
    expect(JSON.stringify(sandbox.updates.slice(1))).not.toContain(party);
    const before = sandbox.updates.length;
    sandbox.generate(50, { variants: ['Reassignment'] });
    expect(new Set(sandbox.updates.slice(before).flatMap(keys))).toEqual(new Set(['Reassignment']));
  });

  it('is the same for the same seed, at other times', async () => {
    const [one, two, other] = [await sandboxWith(), await sandboxWith(), await sandboxWith()];
    one.generate(200, { seed: 7 });
    two.generate(200, { seed: 7 });
    other.generate(200, { seed: 8 });
    expect(timeless(two)).toEqual(timeless(one));
    expect(timeless(other)).not.toEqual(timeless(one));
    const steps = (sandbox: Sandbox) => times(sandbox).map((time) => time - (times(sandbox)[0] ?? 0));
    expect(steps(two)).toEqual(steps(one));
  });

  it('ends now, and goes on from there, with gaps between offsets and ascending times on each synchronizer', async () => {
    const sandbox = await sandboxWith();
    const isRecent = (): boolean => {
      const age = Date.now() * 1000 - Math.max(...times(sandbox));
      return age > -1_000 && age < 5_000_000;
    };
    expect(sandbox.generate(1_000)).toBe(sandbox.ledgerEnd);
    expect(sandbox.updates).toHaveLength(1_000);
    expect(sandbox.ledgerEnd).toBeGreaterThan(1_000);
    expect(isRecent()).toBe(true);
    const span = Math.max(...times(sandbox)) - Math.min(...times(sandbox));
    expect(span).toBeGreaterThan(800_000_000);
    expect(span).toBeLessThan(1_200_000_000);
    sandbox.generate(1_000, { seed: 2 });
    sandbox.append(creation(), creation());
    expect(isRecent()).toBe(true);
    for (const synchronizer of sandbox.synchronizers) {
      const found = times(sandbox, synchronizer);
      expect(found.length).toBeGreaterThan(100);
      expect(found).toEqual([...new Set(found)].sort((a, b) => a - b));
    }
  });

  it('is fast to generate, and fast to read from the middle', async () => {
    const sandbox = await sandboxWith();
    const start = performance.now();
    sandbox.generate(effort(2_000, 10_000));
    expect(performance.now() - start).toBeLessThan(30_000);
    const last = sandbox.updates.slice(-1).map((update) => updateValue(update).offset);
    const reply = await readUpdates(sandbox, { beginExclusive: sandbox.ledgerEnd - 1 });
    expect(offsets(reply)).toEqual(last);
  });
});

/** What happens to a contract on one synchronizer. */
interface Step {
  readonly contractId: string;
  readonly synchronizerId: string;
  readonly kind: 'created' | 'archived' | 'unassigned' | 'assigned' | 'used';
  /** The reassignment counter; of an archive or a use, none. */
  readonly counter?: number;
}

const stepsOf = (update: WireUpdate): readonly Step[] => {
  const { synchronizerId } = updateValue(update);
  if ('Transaction' in update)
    return update.Transaction.value.events.flatMap((event): readonly Step[] => {
      if ('CreatedEvent' in event) {
        const { contractId, acsDelta } = event.CreatedEvent;
        return acsDelta ? [{ contractId, synchronizerId, kind: 'created', counter: 0 }] : [];
      }
      if ('ArchivedEvent' in event)
        return [{ contractId: event.ArchivedEvent.contractId, synchronizerId, kind: 'archived' }];
      const { contractId, consuming } = event.ExercisedEvent;
      return consuming ? [] : [{ contractId, synchronizerId, kind: 'used' }];
    });
  if (!('Reassignment' in update)) return [];
  return update.Reassignment.value.events.map((event): Step => {
    if ('JsUnassignedEvent' in event) {
      const { contractId, source, reassignmentCounter: counter } = event.JsUnassignedEvent.value;
      expect(source).toBe(synchronizerId);
      return { contractId, synchronizerId, kind: 'unassigned', counter };
    }
    const { createdEvent, target, reassignmentCounter: counter } = event.JsAssignmentEvent;
    expect(target).toBe(synchronizerId);
    return { contractId: createdEvent.contractId, synchronizerId, kind: 'assigned', counter };
  });
};

/** Groups steps. */
function grouped(steps: readonly Step[], keyOf: (step: Step) => string): readonly (readonly Step[])[] {
  const groups = new Map<string, Step[]>();
  for (const step of steps) {
    const group = groups.get(keyOf(step));
    if (group === undefined) groups.set(keyOf(step), [step]);
    else group.push(step);
  }
  return [...groups.values()];
}

/** Checks that a contract is used, archived and unassigned only where it is active, and that its counters ascend. */
function expectOrder({ updates }: Sandbox): void {
  const steps = updates.flatMap(stepsOf);
  for (const found of grouped(steps, (step) => `${step.contractId} ${step.synchronizerId}`)) {
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
    if (wrong.length > 0) expect([found, wrong]).toEqual([found, []]);
  }
}

/** The halves of each reassignment, in order. */
function moves({ updates }: Sandbox): readonly string[] {
  const halves = updates.flatMap(stepsOf).filter(({ kind }) => kind === 'assigned' || kind === 'unassigned');
  const groups = grouped(halves, ({ contractId, counter }) => `${contractId} ${counter ?? ''}`);
  return groups.map((steps) => steps.map(({ kind }) => kind).join(' '));
}

describe('generated reassignments', () => {
  // with seed 5, a contract comes back to a synchronizer that it left by a half which a restore has removed
  it.each([5, ...Array.from({ length: effort(1, 49) }, (_, index) => index + 6)])(
    'keep the order of each synchronizer, also after a restore, with seed %i',
    async (seed) => {
      const sandbox = await sandboxWith({ synchronizers: three });
      sandbox.generate(1_000, { seed });
      sandbox.generate(500, { seed: seed + 1, variants: ['Reassignment'] });
      sandbox.generate(300, { seed: seed + 2, variants: ['Transaction'] });
      for (let part = 3; part < 10; part += 1) {
        sandbox.generate(100, { seed: seed + part });
        expectOrder(sandbox);
        const once = ['assigned', 'unassigned', 'assigned unassigned', 'unassigned assigned'];
        expect(moves(sandbox).filter((halves) => !once.includes(halves))).toEqual([]);
        sandbox.restore(sandbox.ledgerEnd - 40);
      }
    },
  );

  it('come in any order across synchronizers: in flight, overtaken, after an archive or a further move', async () => {
    const sandbox = await sandboxWith({ synchronizers: three });
    sandbox.generate(5_000);
    const orders = moves(sandbox);
    const count = (order: string) => orders.filter((halves) => halves === order).length;
    expect(count('unassigned assigned')).toBeGreaterThan(50);
    expect(count('assigned unassigned')).toBeGreaterThan(30);
    // those at the end of the ledger
    expect(count('assigned') + count('unassigned')).toBeGreaterThan(0);
    const archived = new Set<string>();
    const highest = new Map<string, number>();
    const late = { archived: 0, moved: 0, created: 0 };
    for (const { contractId, kind, counter = 0 } of sandbox.updates.flatMap(stepsOf)) {
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

  it('are none with one synchronizer', async () => {
    const sandbox = await sandboxWith({ synchronizers: three.slice(0, 1) });
    sandbox.generate(500);
    expect(moves(sandbox)).toEqual([]);
  });
});

/** The place of a contract that is on a synchronizer. */
const placeOf = (place: { readonly synchronizerId: string; readonly reassignmentCounter: number } | undefined) =>
  place && `${place.reassignmentCounter} ${place.synchronizerId}`;

const truePlaceOf = (state: ContractState | undefined) =>
  placeOf(state && 'synchronizerId' in state.location ? { ...state, ...state.location } : undefined);

describe('the present synchronizer of a contract', () => {
  it('is where the last thing happened to it, and is forgotten once nothing can follow its archive', () => {
    fc.assert(
      fc.property(contractHistories({ maxEvents: 40 }), (updates) => {
        const history = new ContractHistory();
        const ids = [...new Set(updates.flatMap(({ events }) => events.map(({ contractId }) => contractId)))];
        for (const { offset, element } of updates) {
          history.add(at(element, 'update') as WireUpdate);
          const truth = contractsAt(updates, offset);
          expect(ids.map((id) => placeOf(history.get(id)))).toEqual(ids.map((id) => truePlaceOf(truth.get(id))));
        }
        const truth = contractsAt(updates, Infinity);
        for (const id of ids) expect([id, history.stateOf(id) !== undefined]).toEqual([id, truth.has(id)]);
      }),
      { numRuns: effort(100, 3000) },
    );
  });

  it('is kept when a contract leaves and comes back as by party replication', () => {
    const history = new ContractHistory();
    const there = { source: 's', target: 's', reassignmentCounter: 3 };
    const move = (...events: readonly object[]) => {
      history.add({ Reassignment: { value: { events, offset: 1, workflowId: '' } } } as unknown as WireUpdate);
    };
    const comes = { JsAssignmentEvent: { ...there, createdEvent: { contractId: '00aa' } } };
    move(comes);
    expect(history.get('00aa')).toMatchObject({ synchronizerId: 's', reassignmentCounter: 3 });
    move({ JsUnassignedEvent: { value: { ...there, contractId: '00aa' } } });
    expect(history.stateOf('00aa')).toBeUndefined();
    move(comes);
    expect(history.get('00aa')).toMatchObject({ synchronizerId: 's' });
  });
});

describe('an appended reassignment', () => {
  it('gets its absent fields from its other half, in either order, or from where the contract is', async () => {
    const sandbox = await sandboxWith();
    const [source, target] = sandbox.synchronizers;
    sandbox.append(...creations('00aa', '00bb'), unassign('00aa'), assign('00bb'), assign('00aa'), unassign('00bb'));
    sandbox.append(unassign('00aa'), archive('00bb'));
    const events = sandbox.updates.map((update) => {
      const value = updateValue(update);
      const event = at(value, 'events', 0);
      const fields = at(event, 'JsAssignmentEvent') ?? at(event, 'JsUnassignedEvent', 'value');
      return { on: value.synchronizerId, source: at(fields, 'source'), target: at(fields, 'target'), fields };
    });
    const id = (index: number) => at(events[index]?.fields, 'reassignmentId');
    const counter = (index: number) => at(events[index]?.fields, 'reassignmentCounter');
    const there = { source, target };
    expect(events.slice(2)).toMatchObject([
      { on: source, ...there },
      { on: target, ...there },
      { on: target, ...there },
      { on: source, ...there },
      { on: target, source: target, target: source },
      { on: target },
    ]);
    expect([2, 3, 4, 5, 6].map(counter)).toEqual([1, 1, 1, 1, 2]);
    expect([id(2), id(3)]).toEqual([id(4), id(5)]);
    expect(new Set([id(2), id(3), id(6)]).size).toBe(3);
  });

  it('completes the half with its counter if there are several', async () => {
    const sandbox = await sandboxWith();
    const [first, second] = sandbox.synchronizers;
    sandbox.append(assign('00aa'), assign('00aa'));
    for (const [reassignmentCounter, source, target] of [[2, second, first] as const, [1, first, second] as const]) {
      const value = { contractId: '00aa', reassignmentCounter };
      sandbox.append({ Reassignment: { value: { events: [{ JsUnassignedEvent: { value } }] } } });
      const late = at(sandbox.updates.at(-1), 'Reassignment', 'value', 'events', 0, 'JsUnassignedEvent', 'value');
      expect(late).toMatchObject({ source, target, reassignmentCounter });
    }
  });
});

describe('contention', () => {
  it('lets another transaction archive, replace or lock the contract of a submission first', async () => {
    const { sandbox, alice } = await withParties();
    const submitted = (commandId: string, ...commands: readonly unknown[]) =>
      post(sandbox, transactionPath, { commands: commandsOf(alice, undefined, { commandId, commands }) });
    const { json } = await submitted('creation', ...Array.from({ length: 40 }, () => createAsset(alice)));
    const ids = Array.from({ length: 40 }, (_, index) =>
      at(json, 'transaction', 'events', index, 'CreatedEvent', 'contractId'),
    );
    sandbox.configure({ contention: 1 });
    const codes = new Set<unknown>();
    for (const id of ids) codes.add(at((await submitted(String(id), exerciseAsset(String(id)))).json, 'code'));
    expect(codes).toEqual(new Set(['CONTRACT_NOT_FOUND', 'LOCAL_VERDICT_LOCKED_CONTRACTS']));
    const rivals = sandbox.updates.slice(1).map((update) => updateValue(update).events.flatMap(keys).join());
    const archived = 'ArchivedEvent,ExercisedEvent';
    expect(new Set(rivals)).toEqual(new Set([archived, `${archived},CreatedEvent`]));
  });
});
