import type { Participant } from '../participant/Participant.js';
import { microsOf } from '../wire/microsOf.js';
import { timestampOf } from '../wire/timestampOf.js';
import { trafficCost } from '../wire/trafficCost.js';
import { updateIdOf } from '../wire/updateIdOf.js';
import type { WireTransaction } from '../wire/WireTransaction.js';
import { eventsOf } from './eventsOf.js';
import { ledgerTimeOf } from './ledgerTimeOf.js';
import type { Signed } from './Signed.js';

/** Commits a checked submission as the next update of the ledger, and remembers its change. */
export function commitSubmission(
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
