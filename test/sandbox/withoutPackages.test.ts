import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, it, jest } from '@jest/globals';
import { sandboxes } from '../helpers/localServers.js';

for (const name of ['ws', '@canton-network/core-tx-visualizer'])
  jest.unstable_mockModule(name, () => {
    throw new Error('Cannot find package');
  });

// the other helpers of this folder need the packages
const sandboxWith = sandboxes();

const headers = { 'content-type': 'application/json' };

describe('a sandbox without its optional packages', () => {
  it('reports which packages of the vendor to install on prepare and execute', async () => {
    const sandbox = await sandboxWith();
    const { party } = sandbox.externalParty('alice');
    // complete requests: a participant checks a request before it acts on it
    const requests = {
      prepare: {
        commandId: 'command',
        commands: [{ CreateCommand: { templateId: '#assets:Main:Asset', createArguments: {} } }],
        actAs: [party],
        synchronizerId: '',
        packageIdSelectionPreference: [],
      },
      executeAndWaitForTransaction: {
        preparedTransaction: 'AAAA',
        partySignatures: { signatures: [] },
        deduplicationPeriod: { Empty: {} },
        submissionId: 'submission',
        hashingSchemeVersion: 'HASHING_SCHEME_VERSION_V2',
      },
    };
    for (const [path, request] of Object.entries(requests)) {
      const url = `${sandbox.url}/v2/interactive-submission/${path}`;
      const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(request) });
      expect([response.status, response.headers.get('content-type')]).toEqual([501, 'text/plain; charset=UTF-8']);
      const text = await response.text();
      expect(text).toMatch(/@canton-network\/core-ledger-proto@\S+ @canton-network\/core-tx-visualizer@\S+$/);
      // an error of the library quotes only this part
      expect(text.length).toBeLessThanOrEqual(200);
    }
  });

  it('reports on an upgrade that ws must be installed, and closes the connection', async () => {
    const sandbox = await sandboxWith();
    const headers = {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': Buffer.alloc(16).toString('base64'),
      'sec-websocket-protocol': 'daml.ws.auth',
    };
    const response = await new Promise<NodeJS.ReadableStream & { readonly statusCode?: number | undefined }>(
      (resolve) => request(`${sandbox.url}/v2/updates`, { headers }, resolve).end(),
    );
    expect(response.statusCode).toBe(501);
    expect(await text(response)).toMatch(/npm install --save-dev ws@\S+\r\n$/);
    expect(sandbox.requests).toMatchObject([{ method: 'GET', status: 501, aborted: false }]);
  });

  it('serves everything else', async () => {
    const sandbox = await sandboxWith();
    sandbox.append({ Transaction: { value: { events: [{ CreatedEvent: {} }] } } });
    const body = JSON.stringify({ endInclusive: 1, filter: { filtersForAnyParty: {} } });
    const response = await fetch(`${sandbox.url}/v2/updates`, { method: 'POST', headers, body });
    expect(await response.json()).toHaveLength(1);
  });
});
