import type { LedgerEntry } from '../ledger/LedgerEntry.js';
import { updateIdOf } from '../wire/updateIdOf.js';
import { generateEvents } from './generateEvents.js';
import { generateHeader } from './generateHeader.js';
import type { Scene } from './Scene.js';

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
