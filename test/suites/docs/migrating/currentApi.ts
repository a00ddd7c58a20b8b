import { once } from 'node:events';
import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Command } from '../../../../src/index.js';
import { type Sandbox, startSandbox } from '../../../../src/sandbox/index.js';
import type { GuideLedger, Task } from './GuideLedger.js';

/** A sandbox that also takes the submissions of parties whose keys the participant holds. */
export interface CurrentApi extends GuideLedger {
  readonly sandbox: Sandbox;
  /** The party of the guide, which has a key of its own, too. */
  readonly party: string;
}

const submissions = '/v2/commands/submit-and-wait-for-transaction';

/** Starts the service. */
export async function currentApi(publicKey: CryptoKey): Promise<CurrentApi> {
  const sandbox = await startSandbox();
  const { party } = sandbox.externalParty('alice', { publicKey });
  const template = `${sandbox.uploadPackage('tasks', { templates: ['Tasks:Task'] })}:Tasks:Task`;

  const commit = (command: Command): void => {
    if ('CreateCommand' in command) {
      const createArgument = command.CreateCommand.createArguments;
      sandbox.append({
        Transaction: {
          value: { events: [{ CreatedEvent: { templateId: template, createArgument, signatories: [party] } }] },
        },
      });
    }
    if ('ExerciseCommand' in command) {
      const { contractId } = command.ExerciseCommand;
      sandbox.append({
        Transaction: {
          value: { events: [{ ArchivedEvent: { templateId: template, contractId, witnessParties: [party] } }] },
        },
      });
    }
  };
  const create = (title: string): string => {
    const createArguments: Task = { owner: party, title };
    commit({ CreateCommand: { templateId: template, createArguments } });
    return lastCreated(sandbox);
  };

  const server = createServer((request, response) => {
    if (request.url === submissions) {
      void text(request).then((body) => {
        const { commands } = JSON.parse(body) as { commands: { commands: readonly Command[] } };
        commands.commands.forEach(commit);
        const last = sandbox.updates.at(-1);
        const transaction = last !== undefined && 'Transaction' in last ? last.Transaction.value : undefined;
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ transaction }));
      });
      return;
    }
    const { method = '', headers } = request;
    const passed = send(`${sandbox.url}${request.url ?? ''}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    passed.on('error', () => response.destroy());
    response.on('close', () => passed.destroy());
    request.pipe(passed);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;

  return {
    sandbox,
    party,
    url: `http://127.0.0.1:${port}`,
    create,
    archive: (contractId) => {
      commit({ ExerciseCommand: { templateId: template, contractId, choice: 'Archive', choiceArgument: {} } });
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      await sandbox.close();
    },
  };
}

function lastCreated({ updates }: Sandbox): string {
  const last = updates.at(-1);
  const event = last !== undefined && 'Transaction' in last ? last.Transaction.value.events[0] : undefined;
  return event !== undefined && 'CreatedEvent' in event ? event.CreatedEvent.contractId : '';
}
