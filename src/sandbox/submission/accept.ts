import type { TransactionFormat } from '../formats/TransactionFormat.js';
import type { Answer } from '../http/Answer.js';
import { jsonAnswer } from '../http/jsonAnswer.js';
import type { Participant } from '../participant/Participant.js';
import { visibleTransaction } from '../visible/visibleTransaction.js';
import { checkAcceptance } from './checkAcceptance.js';
import { commitSubmission } from './commitSubmission.js';
import type { Signed } from './Signed.js';
import { checkVerdict } from './checkVerdict.js';

/** Takes a submission and commits it. */
export function accept(signed: Signed, participant: Participant): Answer {
  const { ledger, settings } = participant;
  checkAcceptance(signed, participant);
  checkVerdict(signed, participant);
  const transaction = commitSubmission(signed, participant);
  const format = signed.execution.format ?? formatFor(signed.prepared.party);
  const { served } = visibleTransaction(transaction, format, { ledger, profile: settings.profile });
  return jsonAnswer({ transaction: served });
}

/** Everything that the party of the submission may see of the active set. */
function formatFor(party: string): TransactionFormat {
  const wildcard = [{ kind: 'wildcard', id: '', blob: false, view: false }] as const;
  return { events: { byParty: new Map([[party, wildcard]]) }, ledgerEffects: false };
}
