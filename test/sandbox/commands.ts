import type { Sandbox, SandboxOptions } from '../../src/sandbox/index.js';
import { at, listAt, post, type Reply, sandboxWith, textAt } from './client.js';
import { assetId, create, exercise, forParty, wildcard } from './requests.js';

/** Starts a sandbox with an external party, and a party for which the sandbox signs. */
export async function withParties(options?: SandboxOptions) {
  const sandbox = await sandboxWith(options);
  return { sandbox, eve: sandbox.externalParty('eve'), alice: sandbox.hostedParty('alice') };
}

export const submitPath = '/v2/commands/submit-and-wait';

export const transactionPath = '/v2/commands/submit-and-wait-for-transaction';

export const completionsPath = '/v2/commands/completions';

export const commandsOf = (party: string, command: unknown, fields: object = {}) => ({
  userId: 'app',
  commandId: 'cmd-1',
  actAs: [party],
  commands: [command],
  ...fields,
});

export const createAsset = (owner: string, fields: object = {}) =>
  create(assetId, { owner, amount: '10.0', serial: '1', ...fields });

export const exerciseAsset = (contractId: string, choice?: string, choiceArgument?: object) =>
  exercise(assetId, contractId, choice, choiceArgument);

/** Submits a command. */
export const submit = (sandbox: Sandbox, party: string, command: unknown, fields: object = {}) =>
  post(sandbox, submitPath, commandsOf(party, command, fields));

/** Submits a command, and returns the response with its transaction. */
export const submitForTransaction = (sandbox: Sandbox, commands: object, fields: object = {}): Promise<Reply> =>
  post(sandbox, transactionPath, { commands, ...fields });

/** Creates an asset of a hosted party. Returns its contract id. */
export async function assetOf(sandbox: Sandbox, party: string, fields: object = {}): Promise<string> {
  const body = commandsOf(party, createAsset(party), { commandId: 'creation', ...fields });
  const { json } = await submitForTransaction(sandbox, body);
  return textAt(json, 'transaction', 'events', 0, 'CreatedEvent', 'contractId');
}

/** The completions in a list. */
export const completionsIn = ({ json }: Reply): readonly unknown[] =>
  listAt(json).map((element) => at(element, 'completionResponse', 'Completion', 'value'));

/** The completions of a party so far, or that many; then no clock needs to run. */
export async function completionsOf(sandbox: Sandbox, party: string, count = 100): Promise<readonly unknown[]> {
  const path = `${completionsPath}?stream_idle_timeout_ms=0&limit=${count}`;
  return completionsIn(await post(sandbox, path, { userId: 'app', parties: [party] }));
}

/** Returns what discloses a contract, also after its archive. */
export async function disclosureOf(sandbox: Sandbox, party: string, contractId: string) {
  const body = { contractId, eventFormat: forParty(party, wildcard(true)) };
  const { json } = await post(sandbox, '/v2/events/events-by-contract-id', body);
  return { contractId, createdEventBlob: textAt(json, 'created', 'createdEvent', 'createdEventBlob') };
}
