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
  return executeBody(json, signer.party, signer.sign(textAt(json, 'preparedTransactionHash')));
}

/** The body of the request that executes what a prepare answer has. */
export function executeBody(prepared: unknown, party: string, ...signatures: readonly unknown[]) {
  return {
    preparedTransaction: textAt(prepared, 'preparedTransaction'),
    partySignatures: { signatures: [{ party, signatures }] },
    deduplicationPeriod: { Empty: {} },
    submissionId: 'sub-1',
    hashingSchemeVersion: textAt(prepared, 'hashingSchemeVersion'),
  };
}

export const archiveCommand = (contractId: string, templateId = '#assets:Main:Asset') => ({
  ExerciseCommand: { templateId, contractId, choice: 'Archive', choiceArgument: {} },
});

/** Creates a contract; its id. */
export async function created(sandbox: Sandbox, owner: ExternalParty, command: unknown = createCommand) {
  const { json } = await post(sandbox, executePath, await signed(sandbox, owner, command, 'creation'));
  return textAt(json, 'transaction', 'events', 0, 'CreatedEvent', 'contractId');
}
