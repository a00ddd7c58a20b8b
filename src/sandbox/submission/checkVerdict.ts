import { refused } from '../errors/refused.js';
import type { Participant } from '../participant/Participant.js';
import { checkTimes } from './checkTimes.js';
import type { Signed } from './Signed.js';

/** Rejects what those who confirm a transaction would reject, at the time of its commit. */
export function checkVerdict({ execution, prepared }: Signed, { ledger, settings }: Participant): void {
  const { effect, party, synchronizerId } = prepared;
  checkTimes(prepared, execution, settings);
  if (effect.kind === 'create') {
    if (effect.signatories.length === 1 && effect.signatories[0] === party) return;
    throw refused('INVALID_EXTERNAL_TRANSACTION', `${party} alone cannot authorize the contract`);
  }
  const { contractId } = effect;
  const contract = ledger.contracts.get(contractId);
  if (contract?.synchronizerId !== synchronizerId) {
    throw refused('LOCAL_VERDICT_INACTIVE_CONTRACTS', 'Rejected transaction is referring to inactive contracts', {
      resources: [['ErrorResource(CONTRACT_ID)', contractId]],
    });
  }
  if (!contract.created.signatories.includes(party)) {
    throw refused('INVALID_EXTERNAL_TRANSACTION', `${party} is no signatory of contract ${contractId}`);
  }
}
