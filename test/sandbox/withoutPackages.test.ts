import { describe, expect, it, jest } from '@jest/globals';
import { createCommand, creation, executePath, prepareBody, preparePath, readUpdates } from './requests.js';
import { get, post, sandboxWith } from './client.js';

jest.unstable_mockModule('@canton-network/core-tx-visualizer', () => {
  throw new Error('Cannot find package');
});

describe('a sandbox without the packages of the vendor', () => {
  it('reports which packages to install on prepare and execute', async () => {
    const sandbox = await sandboxWith();
    const { party } = sandbox.externalParty('eve');
    for (const [path, body] of [
      [preparePath, prepareBody(party, createCommand)] as const,
      [executePath, {}] as const,
    ]) {
      const reply = await post(sandbox, path, body);
      expect(reply).toMatchObject({ status: 501, type: 'text/plain; charset=UTF-8' });
      expect(reply.text).toMatch(/@canton-network\/core-ledger-proto@\S+ @canton-network\/core-tx-visualizer@\S+$/);
      // an error of the library quotes only this part
      expect(reply.text.length).toBeLessThanOrEqual(200);
    }
  });

  it('serves everything else', async () => {
    const sandbox = await sandboxWith();
    sandbox.append(creation());
    expect((await get(sandbox, '/v2/state/ledger-end')).status).toBe(200);
    expect((await readUpdates(sandbox)).json).toHaveLength(1);
  });
});
