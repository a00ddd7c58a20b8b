import type { Contract } from '../ledger/Contract.js';
import { consume } from '../wire/consume.js';
import { exercisedEvent } from '../wire/exercisedEvent.js';
import type { WireEvent } from '../wire/WireEvent.js';
import { generateContract } from './generateContract.js';
import type { Scene } from './Scene.js';

interface Generated {
  readonly events: readonly WireEvent[];
  readonly submitter: string;
}

interface When {
  readonly synchronizerId: string;
  readonly recordTime: string;
}

/** What happens in a transaction: on a contract if one is given, else new ones. */
export function generateEvents(scene: Scene, contract: Contract | undefined, when: When): Generated {
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
