import type { Packages } from '../ledger/Packages.js';
import { contractIdOf } from '../wire/contractIdOf.js';
import { createdEvent } from '../wire/createdEvent.js';
import type { WireCreatedEvent } from '../wire/WireCreatedEvent.js';
import type { WireInterfaceView } from '../wire/WireInterfaceView.js';
import { generatedParties } from './generatedParties.js';
import type { Scene } from './Scene.js';

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
