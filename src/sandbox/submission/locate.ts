import { refused } from '../errors/refused.js';
import type { Participant } from '../participant/Participant.js';
import type { Submission } from '../prepared/Submission.js';

/** The synchronizer for a submission: where its contract is, or the one asked for, or the first. */
export function locate({ command, synchronizerId }: Submission, { ledger, settings }: Participant): string {
  const contract = command.kind === 'archive' ? ledger.contracts.get(command.contractId) : undefined;
  if (synchronizerId === '') return contract?.synchronizerId ?? settings.synchronizers[0] ?? '';
  const isThere = contract === undefined || contract.synchronizerId === synchronizerId;
  if (settings.synchronizers.includes(synchronizerId) && isThere) return synchronizerId;
  const cause = `This participant is not connected to synchronizer ${synchronizerId}, or the contract is on another`;
  throw refused('NOT_CONNECTED_TO_SYNCHRONIZER', cause);
}
