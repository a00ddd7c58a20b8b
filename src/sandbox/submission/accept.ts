import type { Fault } from '../faults/Fault.js';
import type { TransactionFormat } from '../formats/TransactionFormat.js';
import type { Answer } from '../http/Answer.js';
import { jsonAnswer } from '../http/jsonAnswer.js';
import { timeoutAnswer } from '../http/timeoutAnswer.js';
import type { Participant } from '../participant/Participant.js';
import { visibleTransaction } from '../visible/visibleTransaction.js';
import { checkAcceptance } from './checkAcceptance.js';
import { commitSubmission } from './commitSubmission.js';
import type { Signed } from './Signed.js';
import { checkVerdict } from './checkVerdict.js';

/** Takes a submission and commits it, now or, if the fault is that, later. */
export function accept(signed: Signed, participant: Participant, fault: Fault | undefined): Answer {
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

/** Everything that the party of the submission may see of the active set. */
function formatFor(party: string): TransactionFormat {
  const wildcard = [{ kind: 'wildcard', id: '', blob: false, view: false }] as const;
  return { events: { byParty: new Map([[party, wildcard]]) }, ledgerEffects: false };
}
