import type { Trace } from '../http/Trace.js';
import type { Ledger } from '../ledger/Ledger.js';
import type { Participant } from '../participant/Participant.js';
import { consume } from '../wire/consume.js';
import { contractIdOf } from '../wire/contractIdOf.js';
import { createdEvent } from '../wire/createdEvent.js';
import { trafficCost } from '../wire/trafficCost.js';
import { updateIdOf } from '../wire/updateIdOf.js';
import type { WireEvent } from '../wire/WireEvent.js';
import type { WireTransaction } from '../wire/WireTransaction.js';
import type { Command } from './Command.js';
import { locate } from './locate.js';
import type { PreparedSubmission } from './PreparedSubmission.js';

/** Commits a checked submission as the next update of the ledger. */
export function commitSubmission(
  prepared: PreparedSubmission,
  hash: Buffer,
  trace: Trace,
  participant: Participant,
): WireTransaction {
  const { ledger } = participant;
  const synchronizerId = locate(prepared, participant);
  const offset = ledger.end + 1;
  const recordTime = ledger.recordTimes.now(synchronizerId);
  const transaction: WireTransaction = {
    updateId: updateIdOf(hash.toString('hex'), offset),
    commandId: prepared.commandId,
    workflowId: '',
    effectiveAt: recordTime,
    events: run(prepared.command, prepared.party, { offset, recordTime, ledger }),
    offset,
    synchronizerId,
    traceContext: trace.context,
    recordTime,
    externalTransactionHash: hash.toString('hex'),
    paidTrafficCost: trafficCost(JSON.stringify(prepared).length),
    transactionHash: hash.toString('hex'),
  };
  ledger.commit([{ update: { Transaction: { value: transaction } }, submitters: [prepared.party] }]);
  return transaction;
}

interface Place {
  readonly offset: number;
  readonly recordTime: string;
  readonly ledger: Ledger;
}

function run(command: Command, party: string, { offset, recordTime, ledger }: Place): readonly WireEvent[] {
  if (command.kind === 'create') {
    const contractId = contractIdOf(party, offset, recordTime);
    const template = ledger.packages.resolve(command.templateId);
    const { createArguments: createArgument } = command;
    const fields = { offset, nodeId: 0, contractId, template, createArgument, createdAt: recordTime };
    return [{ CreatedEvent: createdEvent({ ...fields, signatories: [party] }) }];
  }
  const contract = ledger.contracts.get(command.contractId);
  if (contract === undefined) return [];
  const choice = { choice: 'Archive', choiceArgument: {}, exerciseResult: {}, actingParties: [party] };
  return consume(contract.created, { offset, nodeId: 0, ...choice });
}
