import { describe, expect, it } from '@jest/globals';
import type { Sandbox, WireUpdate } from '../../src/sandbox/index.js';
import { parseMicros } from '../../src/sandbox/wire/values.js';
import { creation, readUpdates } from './requests.js';
import { offsets, sandboxWith } from './client.js';
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

/** The updates without their times. */
const timeless = ({ updates }: Sandbox): unknown =>
  JSON.parse(JSON.stringify(updates).replace(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"time"'));

/** The record times in microseconds. */
const times = ({ updates }: Sandbox): readonly number[] =>
  updates.map((update) => parseMicros(valueOf(update).recordTime));

function expectAscendingTimes(sandbox: Sandbox): void {
  for (const synchronizer of sandbox.synchronizers) {
    const values = sandbox.updates.map(valueOf).filter(({ synchronizerId }) => synchronizerId === synchronizer);
    const micros = values.map(({ recordTime }) => parseMicros(recordTime));
    expect(values.length).toBeGreaterThan(100);
    expect(micros).toEqual([...new Set(micros)].sort((a, b) => a - b));
  }
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

  it('ends now, and goes on from there', async () => {
    const sandbox = await sandboxWith();
    const isRecent = (): boolean => {
      const age = Date.now() * 1000 - Math.max(...times(sandbox));
      return age > -1_000 && age < 5_000_000;
    };
    sandbox.generate(1_000);
    expect(isRecent()).toBe(true);
    const span = Math.max(...times(sandbox)) - Math.min(...times(sandbox));
    expect(span).toBeGreaterThan(800_000_000);
    expect(span).toBeLessThan(1_200_000_000);
    sandbox.generate(1_000, { seed: 2 });
    sandbox.append(creation(), creation());
    expect(isRecent()).toBe(true);
    expectAscendingTimes(sandbox);
  });

  it('has ascending offsets with gaps, and ascending record times on each synchronizer', async () => {
    const sandbox = await sandboxWith();
    const end = sandbox.generate(500);
    expect(end).toBe(sandbox.ledgerEnd);
    expect(sandbox.updates).toHaveLength(500);
    expect(end).toBeGreaterThan(500);
    expectAscendingTimes(sandbox);
  });

  it('does not touch contracts of external parties', async () => {
    const sandbox = await sandboxWith();
    const { party } = sandbox.externalParty('eve');
    sandbox.append(creation({ contractId: '00ee', signatories: [party] }));
    sandbox.generate(1000);
    expect(JSON.stringify(sandbox.updates.slice(1))).not.toContain(party);
  });

  it('is fast to generate, and fast to read from the middle', async () => {
    const sandbox = await sandboxWith();
    const start = performance.now();
    sandbox.generate(effort(2_000, 10_000));
    expect(performance.now() - start).toBeLessThan(30_000);
    const [, last] = sandbox.updates.slice(-2).map((update) => valueOf(update).offset);
    const reply = await readUpdates(sandbox, { beginExclusive: sandbox.ledgerEnd - 1 });
    expect(offsets(reply).every((offset) => offset === last)).toBe(true);
  });
});
