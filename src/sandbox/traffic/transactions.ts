import type { Contract } from '../ledger/Contracts.js';
import type { LedgerEntry } from '../ledger/Ledger.js';
import type { Packages } from '../ledger/Packages.js';
import { generatedParties } from '../participant/parties.js';
import { consume, createdEvent, exercisedEvent } from '../wire/events.js';
import { contractIdOf, updateIdOf } from '../wire/values.js';
import type { WireCreatedEvent, WireEvent, WireInterfaceView } from '../wire/WireEvent.js';
import type { Scene } from './TrafficState.js';

/** A new contract of one of three templates; the first of them implements an interface. */
export function generateContract(scene: Scene, nodeId: number, createdAt: string, acsDelta: boolean): WireCreatedEvent {
  const { random, participant, offset, seed } = scene;
  const { packages } = participant.ledger;
  const [alice = '', ...others] = generatedParties;
  const [owner, other] = [random.pick(alice, ...others), random.pick(alice, ...others)];
  const amount = `${random.below(1000)}.${'0'.repeat(10)}`;
  const name = random.pick(
    '#sandbox-assets:Main:Asset',
    '#sandbox-assets:Main:Offer',
    '#sandbox-tasks:Tasks.Model:Task',
  );
  const template = packages.resolve(name);
  const createArguments: Readonly<Record<string, unknown>> = {
    '#sandbox-assets:Main:Asset': { owner, amount, tag: random.chance(0.5) ? 'gold' : null, serial: `${offset}` },
    '#sandbox-assets:Main:Offer': { seller: owner, buyer: other, price: amount, kind: { tag: 'Fixed', value: {} } },
    '#sandbox-tasks:Tasks.Model:Task': { owner, title: `Task ${offset}`, due: '2026-12-31', steps: ['1', '2'] },
  };
  return createdEvent({
    offset,
    nodeId,
    contractId: contractIdOf(seed, offset, nodeId),
    template,
    createArgument: createArguments[name],
    signatories: [owner],
    observers: name.endsWith('Offer') && other !== owner ? [other] : [],
    createdAt,
    interfaceViews: name.endsWith('Asset') ? [holding(template.id, { owner, amount }, packages)] : [],
    acsDelta,
  });
}

function holding(templateId: string, viewValue: unknown, packages: Packages): WireInterfaceView {
  return {
    interfaceId: packages.resolve('#sandbox-api:Api:Holding').id,
    viewStatus: { code: 0, message: '', details: [] },
    viewValue,
    implementationPackageId: templateId.slice(0, templateId.indexOf(':')),
  };
}

/** What all generated updates have. Record times ascend with steps that need no, three or six digits. */
export function generateHeader({ seed, random, participant, offset }: Scene, synchronizerId: string) {
  const { recordTimes } = participant.ledger;
  const latest = recordTimes.latest(synchronizerId);
  const step = 1 + random.below(2_000_000);
  const grain = random.pick(1, 1000, 1_000_000);
  const rounded = step + grain - ((latest + step) % grain);
  const trace = `00-${updateIdOf(seed, offset).slice(4, 36)}-00f067aa0ba902b7-01`;
  return {
    updateId: updateIdOf(seed, offset),
    offset,
    synchronizerId,
    recordTime: recordTimes.next(synchronizerId, rounded),
    traceContext: random.chance(0.3) ? { traceparent: trace, tracestate: null } : null,
  };
}

/** A transaction of one of several kinds. */
export function generateTransaction(scene: Scene): LedgerEntry {
  const { random, participant, state, offset, seed } = scene;
  const contract = random.chance(0.5) ? state.pick(random, participant.ledger) : undefined;
  const [first = '', ...others] = participant.settings.synchronizers;
  const header = generateHeader(scene, contract?.synchronizerId ?? random.pick(first, ...others));
  const { events, submitter } = generateEvents(scene, contract, header);
  const value = {
    ...header,
    commandId: `cmd-${offset}`,
    workflowId: random.chance(0.3) ? `workflow-${random.below(10)}` : '',
    effectiveAt: header.recordTime,
    events,
    externalTransactionHash: null,
    paidTrafficCost: 500 + random.below(5000),
    transactionHash: updateIdOf('transaction', seed, offset).slice(4),
  };
  return { update: { Transaction: { value } }, submitters: [submitter] };
}

interface When {
  readonly synchronizerId: string;
  readonly recordTime: string;
}

interface Generated {
  readonly events: readonly WireEvent[];
  readonly submitter: string;
}

/** What happens in a transaction: on a contract if one is given, else new ones. */
function generateEvents(scene: Scene, contract: Contract | undefined, when: When): Generated {
  const { random, state, offset } = scene;
  const { synchronizerId, recordTime } = when;
  if (contract === undefined) return random.chance(0.1) ? transient() : creates(1 + random.below(3));
  const { created } = contract;
  const [submitter = ''] = created.signatories;
  const base = { offset, nodeId: 0, choiceArgument: {}, exerciseResult: {}, actingParties: [submitter] };
  if (random.chance(0.3)) {
    const touched = exercisedEvent(created, { ...base, choice: 'Touch', exerciseResult: '42' }, false);
    return { events: [{ ExercisedEvent: touched }], submitter };
  }
  state.disown(created.contractId);
  if (random.chance(0.5)) return { events: consume(created, { ...base, choice: 'Archive' }), submitter };
  const successor = make(1);
  const transfer = { ...base, choice: 'Transfer', lastDescendantNodeId: 1, exerciseResult: successor.contractId };
  const choiceArgument = { newOwner: successor.signatories[0] ?? '' };
  return { events: [...consume(created, { ...transfer, choiceArgument }), { CreatedEvent: successor }], submitter };

  function make(nodeId: number, acsDelta = true) {
    const made = generateContract(scene, nodeId, recordTime, acsDelta);
    if (acsDelta) state.own({ created: made, synchronizerId, reassignmentCounter: 0 });
    return made;
  }

  function creates(count: number): Generated {
    const contracts = Array.from({ length: count }, (_, nodeId) => make(nodeId));
    const events = contracts.map((made) => ({ CreatedEvent: made }));
    return { events, submitter: contracts[0]?.signatories[0] ?? '' };
  }

  /** A contract that ends where it began: seen only in the shape of all effects. */
  function transient(): Generated {
    const made = make(0, false);
    const choice = {
      offset,
      choice: 'Archive',
      choiceArgument: {},
      exerciseResult: {},
      actingParties: made.signatories,
    };
    return {
      events: [{ CreatedEvent: made }, ...consume(made, { ...choice, nodeId: 1 })],
      submitter: made.signatories[0] ?? '',
    };
  }
}
