import type { ExternalParty, Sandbox } from '../../src/sandbox/index.js';
import { post, textAt } from './support.js';

export const preparePath = '/v2/interactive-submission/prepare';
export const executePath = '/v2/interactive-submission/executeAndWaitForTransaction';
export const createCommand = {
  CreateCommand: { templateId: '#assets:Main:Asset', createArguments: { amount: '1.0' } },
};

export const prepareBody = (party: string, command: unknown, commandId = 'cmd-1') => ({
  userId: '',
  commandId,
  commands: [command],
  actAs: [party],
  readAs: [],
  synchronizerId: '',
  packageIdSelectionPreference: [],
});

/** Prepares and signs a command; the body of the execute request. */
export async function signed(sandbox: Sandbox, signer: ExternalParty, command: unknown, commandId?: string) {
  const { json } = await post(sandbox, preparePath, prepareBody(signer.party, command, commandId));
  const signature = signer.sign(textAt(json, 'preparedTransactionHash'));
  return {
    preparedTransaction: textAt(json, 'preparedTransaction'),
    partySignatures: { signatures: [{ party: signer.party, signatures: [signature] }] },
    deduplicationPeriod: { Empty: {} },
    submissionId: 'sub-1',
    hashingSchemeVersion: textAt(json, 'hashingSchemeVersion'),
  };
}
