import { type Sandbox, startSandbox, type WireEventInput } from '../../../../src/sandbox/index.js';
import type { GuideLedger, Task } from './formerApi.js';

/** Starts a sandbox that requires tokens. With a public key, the party has its own; otherwise the participant signs for it. */
export async function currentApi(publicKey?: CryptoKey): Promise<GuideLedger & { readonly party: string }> {
  const sandbox = await startSandbox({ checkToken: (token) => token !== undefined });
  const party =
    publicKey === undefined ? sandbox.hostedParty('alice') : sandbox.externalParty('alice', { publicKey }).party;
  const templateId = `${sandbox.uploadPackage('tasks', { templates: ['Tasks:Task'] })}:Tasks:Task`;
  const append = (event: WireEventInput): void => {
    sandbox.append({ Transaction: { value: { events: [event] } } });
  };

  return {
    party,
    url: sandbox.url,
    create: (title) => {
      const createArgument: Task = { owner: party, title };
      append({ CreatedEvent: { templateId, createArgument, signatories: [party] } });
      return lastCreated(sandbox);
    },
    archive: (contractId) => {
      append({ ArchivedEvent: { templateId, contractId, witnessParties: [party] } });
    },
    close: () => sandbox.close(),
  };
}

function lastCreated({ updates }: Sandbox): string {
  const last = updates.at(-1);
  const event = last !== undefined && 'Transaction' in last ? last.Transaction.value.events[0] : undefined;
  return event !== undefined && 'CreatedEvent' in event ? event.CreatedEvent.contractId : '';
}
