import { Refusal } from '../errors.js';
import type { Fault } from '../Fault.js';
import { type Answer, type Call, jsonAnswer, timeoutAnswer } from '../http/Call.js';
import type { Ledger } from '../ledger/Ledger.js';
import { visibleTransaction } from '../ledger/visible.js';
import type { Participant } from '../participant/Participant.js';
import { decodePrepared, type Effect, loadVendor } from '../prepared/Prepared.js';
import { parseBody } from '../requests/Cursor.js';
import { readExecution } from '../requests/executeRequest.js';
import type { TransactionFormat } from '../requests/formats.js';
import { consume, createdEvent } from '../wire/events.js';
import { hex, microsOf, timestampOf, trafficCost, updateIdOf } from '../wire/values.js';
import type { WireEvent } from '../wire/WireEvent.js';
import type { WireTransaction } from '../wire/WireUpdate.js';
import { checkAcceptance, checkVerdict, ledgerTimeOf, type Signed } from './checks.js';

/** `POST /v2/interactive-submission/executeAndWaitForTransaction` */
export async function execute({ body, participant, trace, fault }: Call): Promise<Answer> {
  const vendor = await loadVendor();
  const execution = readExecution(parseBody(body), participant.settings.profile);
  const { submissionId, userId } = execution;
  try {
    const { prepared, hash } = await decodePrepared(execution.preparedTransaction, vendor);
    const changeId = JSON.stringify([userId, prepared.party, prepared.commandId]);
    // from here on nothing waits: what is checked is what is committed
    return accept({ execution, prepared, hash, changeId, trace }, participant, fault);
  } catch (error) {
    if (!(error instanceof Refusal) || typeof error.body === 'string') throw error;
    throw new Refusal(error.status, { ...error.body, correlationId: submissionId });
  }
}

/** Takes a submission and commits it, now or, if the fault is that, later. */
function accept(signed: Signed, participant: Participant, fault: Fault | undefined): Answer {
  const { ledger, settings, pending } = participant;
  checkAcceptance(signed, participant);
  checkVerdict(signed, participant);
  if (fault?.kind === 'commitLate') {
    pending.add(signed.changeId, fault.ms, () => {
      commitIfStillGood(signed, participant);
    });
    return { ...timeoutAnswer(), lost: fault.how === 'reset' };
  }
  const transaction = commitSubmission(signed, participant);
  const format = signed.execution.format ?? formatFor(signed.prepared.party);
  const { served } = visibleTransaction(transaction, format, { ledger, profile: settings.profile });
  return jsonAnswer({ transaction: served });
}

function commitIfStillGood(signed: Signed, participant: Participant): void {
  try {
    checkVerdict(signed, participant);
  } catch {
    // rejected by now: its client has long been told that nothing is known
    return;
  }
  commitSubmission(signed, participant);
}

/** Commits a checked submission as the next update of the ledger, and remembers its change. */
function commitSubmission(
  { execution, prepared, hash, changeId, trace }: Signed,
  { ledger, deduplication }: Participant,
): WireTransaction {
  const { party, commandId, synchronizerId, effect } = prepared;
  const offset = ledger.end + 1;
  const recordTime = ledger.recordTimes.now(synchronizerId);
  const effectiveAt = timestampOf(ledgerTimeOf(prepared, execution, microsOf(recordTime)));
  const transaction: WireTransaction = {
    updateId: updateIdOf(hash.toString('hex'), offset),
    commandId,
    workflowId: '',
    effectiveAt,
    events: eventsOf(effect, { party, offset, effectiveAt, ledger }),
    offset,
    synchronizerId,
    traceContext: trace.context,
    recordTime,
    externalTransactionHash: hash.toString('hex'),
    paidTrafficCost: trafficCost(execution.preparedTransaction.length),
    transactionHash: hash.toString('hex'),
  };
  ledger.commit([{ update: { Transaction: { value: transaction } }, submitters: [party] }]);
  deduplication.remember(changeId, {
    submissionId: execution.submissionId,
    completionOffset: offset,
    at: Date.now(),
  });
  return transaction;
}

interface Place {
  readonly party: string;
  readonly offset: number;
  readonly effectiveAt: string;
  readonly ledger: Ledger;
}

/** The events of a committed submission. */
function eventsOf(effect: Effect, { party, offset, effectiveAt, ledger }: Place): readonly WireEvent[] {
  if (effect.kind === 'create') {
    // the suffix is what a synchronizer adds to the id of the prepared transaction
    const contractId = `${effect.contractId}ca1112${hex('suffix', effect.contractId, offset)}`;
    return [{ CreatedEvent: createdEvent({ ...effect, offset, nodeId: 0, contractId, createdAt: effectiveAt }) }];
  }
  const contract = ledger.contracts.get(effect.contractId);
  if (contract === undefined) throw new Error(`${effect.contractId} has been checked to be active`);
  const choice = { choice: 'Archive', choiceArgument: {}, exerciseResult: {}, actingParties: [party] };
  return consume(contract.created, { offset, nodeId: 0, ...choice });
}

/** Everything that the party of the submission may see of the active set. */
function formatFor(party: string): TransactionFormat {
  const wildcard = [{ kind: 'wildcard', id: '', blob: false, view: false }] as const;
  return { events: { byParty: new Map([[party, wildcard]]) }, ledgerEffects: false };
}
