import type { Sandbox, SandboxOptions } from '../../src/sandbox/index.js';
import { listAt, post, type Reply, sandboxWith, textAt } from './client.js';

export const submitPath = '/v2/commands/submit-and-wait';
export const transactionPath = '/v2/commands/submit-and-wait-for-transaction';
export const asyncPath = '/v2/commands/async/submit';
export const completionsPath = '/v2/commands/completions';

/** Starts a sandbox with a party that can submit. */
export async function withHosted(options?: SandboxOptions) {
  const sandbox = await sandboxWith(options);
  return { sandbox, alice: sandbox.hostedParty('alice') };
}

const templateId = '#sandbox-assets:Main:Asset';

export const createAsset = (owner: string, fields: object = {}) => ({
  CreateCommand: { templateId, createArguments: { owner, amount: '10.0', serial: '1', ...fields } },
});

export const exerciseAsset = (contractId: string, choice = 'Archive', choiceArgument: object = {}) => ({
  ExerciseCommand: { templateId, contractId, choice, choiceArgument },
});

export const commandsOf = (party: string, command: unknown, fields: object = {}) => ({
  userId: 'app',
  commandId: 'cmd-1',
  actAs: [party],
  commands: [command],
  ...fields,
});

/** Submits a command, and returns the response with its transaction. */
export const submitForTransaction = (sandbox: Sandbox, commands: object, fields: object = {}): Promise<Reply> =>
  post(sandbox, transactionPath, { commands, ...fields });

/** Creates an asset. Returns its contract id. */
export async function assetOf(sandbox: Sandbox, party: string, fields: object = {}): Promise<string> {
  const body = commandsOf(party, createAsset(party), { commandId: 'creation', ...fields });
  const { json } = await submitForTransaction(sandbox, body);
  return textAt(json, 'transaction', 'events', 0, 'CreatedEvent', 'contractId');
}

interface CompletionElement {
  readonly completionResponse: { readonly Completion: { readonly value: unknown } };
}

/** The completions of a party so far, or that many; then no clock needs to run. */
export async function completionsOf(sandbox: Sandbox, party: string, count = 100): Promise<readonly unknown[]> {
  const path = `${completionsPath}?stream_idle_timeout_ms=0&limit=${count}`;
  const { json } = await post(sandbox, path, { userId: 'app', parties: [party] });
  return listAt(json).map((element) => (element as CompletionElement).completionResponse.Completion.value);
}

/** Returns what discloses a contract, also after its archive. */
export async function disclosureOf(sandbox: Sandbox, party: string, contractId: string) {
  const filter = { WildcardFilter: { value: { includeCreatedEventBlob: true } } };
  const eventFormat = { filtersByParty: { [party]: { cumulative: [{ identifierFilter: filter }] } }, verbose: false };
  const { json } = await post(sandbox, '/v2/events/events-by-contract-id', { contractId, eventFormat });
  return { contractId, createdEventBlob: textAt(json, 'created', 'createdEvent', 'createdEventBlob') };
}
