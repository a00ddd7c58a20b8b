import { refused } from '../errors/refused.js';
import type { Participant } from '../participant/Participant.js';
import type { Submission } from '../prepared/Submission.js';

/** Refuses what the interpretation of a command would refuse. */
export function checkCommand({ command, party }: Submission, { ledger, hosted }: Participant): void {
  if (hosted.find(party) === undefined) {
    throw refused(
      'NO_SYNCHRONIZER_ON_WHICH_ALL_SUBMITTERS_CAN_SUBMIT',
      `${party} is no external party of this participant`,
    );
  }
  if (command.kind === 'create') return;
  const { contractId, templateId } = command;
  const contract = ledger.contracts.get(contractId);
  if (contract === undefined) {
    throw refused('CONTRACT_NOT_FOUND', `Contract could not be found with id ${contractId}`, {
      resources: [['ErrorResource(CONTRACT_ID)', contractId]],
    });
  }
  if (!ledger.packages.matches(templateId, contract.created.templateId)) {
    throw refused('WRONGLY_TYPED_CONTRACT', `Contract ${contractId} is of template ${contract.created.templateId}`);
  }
  if (!contract.created.signatories.includes(party)) {
    throw refused('DAML_AUTHORIZATION_ERROR', `${party} is no signatory of contract ${contractId}`);
  }
}
