import type { ExternalParty, Sandbox, SandboxOptions } from '../../src/sandbox/index.js';
import { post, type Reply, sandboxWith, textAt } from './client.js';

export const anyParty = { filtersByParty: {}, filtersForAnyParty: { cumulative: [] }, verbose: false };

export const forParty = (party: string, ...cumulative: readonly unknown[]) => ({
  filtersByParty: { [party]: { cumulative: cumulative.map((identifierFilter) => ({ identifierFilter })) } },
  verbose: false,
});

export const acsDelta = (eventFormat: unknown) => ({ eventFormat, transactionShape: 'TRANSACTION_SHAPE_ACS_DELTA' });

export const ledgerEffects = (eventFormat: unknown) => ({
  eventFormat,
  transactionShape: 'TRANSACTION_SHAPE_LEDGER_EFFECTS',
});

/** Selects all updates of all parties. */
export const everything = {
  includeTransactions: acsDelta(anyParty),
  includeReassignments: anyParty,
  includeTopologyEvents: { includeParticipantAuthorizationEvents: { parties: [] } },
};

/** A request for all updates, without an end. */
export const tail = { beginExclusive: 0, updateFormat: everything };

/** A request for all updates up to an offset. */
export const upTo = (endInclusive: number) => ({ ...tail, endInclusive });

/** Reads the updates up to the ledger end, by default all. */
export const readUpdates = (sandbox: Sandbox, fields: object = {}): Promise<Reply> =>
  post(sandbox, '/v2/updates', { ...upTo(sandbox.ledgerEnd), ...fields });

/** A transaction that creates one contract. */
export const creation = (fields: object = {}) => ({ Transaction: { value: { events: [{ CreatedEvent: fields }] } } });

/** Starts a sandbox that hosts an external party. */
export async function withParty(options?: SandboxOptions) {
  const sandbox = await sandboxWith(options);
  return { sandbox, eve: sandbox.externalParty('eve') };
}

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

/** Prepares and signs a command. Returns the body of the execute request. */
export async function prepareAndSign(sandbox: Sandbox, signer: ExternalParty, command: unknown, commandId?: string) {
  const { json } = await post(sandbox, preparePath, prepareBody(signer.party, command, commandId));
  return executeBody(json, signer.party, signer.sign(textAt(json, 'preparedTransactionHash')));
}

/** The body of an execute request for the transaction of a prepare response. */
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

/** Creates a contract. Returns its id. */
export async function createContract(sandbox: Sandbox, owner: ExternalParty, command: unknown = createCommand) {
  const { json } = await post(sandbox, executePath, await prepareAndSign(sandbox, owner, command, 'creation'));
  return textAt(json, 'transaction', 'events', 0, 'CreatedEvent', 'contractId');
}

/** Starts a sandbox with three transactions. */
export async function sandboxWithThree(): Promise<Sandbox> {
  const sandbox = await sandboxWith();
  sandbox.append(creation(), creation(), creation());
  return sandbox;
}
