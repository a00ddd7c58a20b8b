import type { Command } from '../../codecs/Command.js';
import type { FaultReject } from '../faults/submissionFaults.js';
import { type AppendedUpdate, completeUpdates } from '../ledger/append.js';
import type { Contract } from '../ledger/ContractHistory.js';
import type { Packages } from '../ledger/Packages.js';
import type { Participant } from '../participant/Participant.js';
import { generatedParties } from '../participant/parties.js';
import { Random } from '../Random.js';
import { makeContractId, makeTraceContext, makeUpdateId } from '../wire/values.js';
import {
  createdEvent,
  type WireCreatedEvent,
  type WireEventInput,
  type WireInterfaceView,
  type WireTransaction,
} from '../wire/WireUpdate.js';
import type { TrafficState } from './TrafficState.js';

/** The context in which an update is generated. */
export interface TrafficContext {
  readonly seed: number;
  readonly random: Random;
  readonly participant: Participant;
  readonly state: TrafficState;
  /** The offset of the generated update. */
  readonly offset: number;
  /** The record time of the generated update on the fastest synchronizer, in microseconds. */
  readonly micros: number;
}

/** Generates a transaction. */
export function generateTransaction(context: TrafficContext): AppendedUpdate {
  const { random, participant, state } = context;
  const contract = random.chance(0.5) ? state.pickContract(random, participant.ledger) : undefined;
  const [first = '', ...others] = participant.settings.synchronizers;
  const header = generateHeader(context, contract?.synchronizerId ?? random.pick(first, ...others));
  const { events, submitter } = generateEvents(context, contract, header.recordTime);
  return transactionEntry(context, header, events, submitter);
}

/** Generates a transaction with the given events. */
export function transactionEntry(
  { random, seed, offset, participant }: TrafficContext,
  header: Partial<WireTransaction>,
  events: readonly WireEventInput[],
  submitter: string,
): AppendedUpdate {
  const value = {
    ...header,
    commandId: `cmd-${offset}`,
    workflowId: random.chance(0.3) ? `workflow-${random.below(10)}` : '',
    events,
    paidTrafficCost: 500 + random.below(5000),
    transactionHash: makeUpdateId('transaction', seed, offset, ...participant.ledger.salt).slice(4),
  };
  return { update: { Transaction: { value } }, submitters: [submitter] };
}

interface GeneratedEvents {
  readonly events: readonly WireEventInput[];
  readonly submitter: string;
}

/** Generates the events of a transaction: a choice on the given contract, or new contracts. */
function generateEvents(context: TrafficContext, contract: Contract | undefined, recordTime: string): GeneratedEvents {
  const { random, state } = context;
  if (contract === undefined) return random.chance(0.1) ? createTransient() : createContracts(1 + random.below(3));
  const { contractId, signatories } = contract.created;
  const [submitter = ''] = signatories;
  if (random.chance(0.3)) {
    const touch = { contractId, choice: 'Touch', exerciseResult: '42', consuming: false };
    return { events: [{ ExercisedEvent: touch }], submitter };
  }
  state.removeContract(contractId);
  if (random.chance(0.5)) return { events: [{ ArchivedEvent: { contractId } }], submitter };
  const successor = createContract(1);
  const transfer = { contractId, choice: 'Transfer', lastDescendantNodeId: 1, exerciseResult: successor.contractId };
  const choiceArgument = { newOwner: successor.signatories[0] ?? '' };
  return { events: [{ ExercisedEvent: { ...transfer, choiceArgument } }, { CreatedEvent: successor }], submitter };

  function createContract(nodeId: number, acsDelta = true) {
    const created = generateContract(context, nodeId, recordTime, acsDelta);
    if (acsDelta) state.addContract(created.contractId);
    return created;
  }

  function createContracts(count: number): GeneratedEvents {
    const contracts = Array.from({ length: count }, (_, nodeId) => createContract(nodeId));
    const events = contracts.map((created) => ({ CreatedEvent: created }));
    return { events, submitter: contracts[0]?.signatories[0] ?? '' };
  }

  /** A contract that is archived in the transaction of its creation. Only the ledger-effects shape has its events. */
  function createTransient(): GeneratedEvents {
    const created = createContract(0, false);
    const { contractId, signatories } = created;
    return { events: [{ CreatedEvent: created }, { ExercisedEvent: { contractId } }], submitter: signatories[0] ?? '' };
  }
}

/** Generates a contract of one of three templates, the first of which implements an interface. */
export function generateContract(
  context: TrafficContext,
  nodeId: number,
  createdAt: string,
  acsDelta: boolean,
): WireCreatedEvent {
  const { random, participant, offset, seed } = context;
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
    '#sandbox-tasks:Tasks.Model:Task': {
      owner,
      title: nodeId === 0 ? `Task ${offset}` : `Task ${offset}-${nodeId}`,
      due: '2026-12-31',
      steps: ['1', '2'],
    },
  };
  return createdEvent({
    offset,
    nodeId,
    contractId: makeContractId(seed, offset, nodeId, ...participant.ledger.salt),
    template,
    createArgument: createArguments[name],
    signatories: [owner],
    observers: name.endsWith('Offer') && other !== owner ? [other] : [],
    createdAt,
    interfaceViews: name.endsWith('Asset') ? [holdingView(template.id, { owner, amount }, packages)] : [],
    acsDelta,
  });
}

function holdingView(templateId: string, viewValue: unknown, packages: Packages): WireInterfaceView {
  return {
    interfaceId: packages.resolve('#sandbox-api:Api:Holding', 'interface').id,
    viewStatus: { code: 0, message: '', details: [] },
    viewValue,
    implementationPackageId: templateId.slice(0, templateId.indexOf(':')),
  };
}

/** How much slower each synchronizer is than the previous one, in microseconds. */
const lagMicros = 700_000;

/**
 * Generates the fields that all kinds of updates share. Record times ascend, and have zero, three or six fraction
 * digits.
 */
export function generateHeader({ seed, random, participant, offset, micros }: TrafficContext, synchronizerId: string) {
  const { ledger, settings } = participant;
  const exact = micros - Math.max(0, settings.synchronizers.indexOf(synchronizerId)) * lagMicros;
  const rounded = exact - (exact % random.pick(1, 1000, 1_000_000));
  const isAfter = rounded > ledger.recordTimes.latest(synchronizerId);
  const updateId = makeUpdateId(seed, offset, ...ledger.salt);
  return {
    updateId,
    offset,
    synchronizerId,
    traceContext: { ...makeTraceContext(updateId.slice(4)), tracestate: random.chance(0.3) ? 'sandbox=1' : null },
    recordTime: ledger.recordTimes.after(synchronizerId, isAfter ? rounded : exact),
  };
}

/**
 * Lets another transaction win the race for a contract of the given commands, for a share of submissions: it archives the
 * contract, replaces it, or locks it. Returns the rejection of the commands if the contract is locked.
 */
export function contend(commands: readonly Command[], participant: Participant): FaultReject | undefined {
  const { ledger, settings } = participant;
  const random = new Random(Math.imul(ledger.end + 1, 0x9e3779b1));
  if (!random.chance(settings.contention)) return undefined;
  const [contract] = commands.flatMap((command) =>
    'ExerciseCommand' in command ? (ledger.contracts.get(command.ExerciseCommand.contractId) ?? []) : [],
  );
  if (contract === undefined) return undefined;
  const how = random.pick('archive', 'replace', 'lock');
  if (how === 'lock') return { kind: 'reject', code: 'LOCAL_VERDICT_LOCKED_CONTRACTS' };
  const { created, synchronizerId } = contract;
  const { contractId, templateId, packageName, createArgument, signatories, observers } = created;
  const successor = { templateId, packageName, createArgument, signatories, observers };
  const events: readonly WireEventInput[] = [
    { ArchivedEvent: { contractId } },
    ...(how === 'replace' ? [{ CreatedEvent: successor }] : []),
  ];
  const value = { synchronizerId, recordTime: ledger.recordTimes.now(synchronizerId), events };
  participant.commit(completeUpdates([{ update: { Transaction: { value } }, submitters: signatories }], participant));
  return undefined;
}
