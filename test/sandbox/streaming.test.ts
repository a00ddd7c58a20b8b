import { describe, expect, it } from '@jest/globals';
import { at, creation, everything, post, sandboxWith } from './support.js';
import { stream } from './webSockets.js';

const bounded = { beginExclusive: 0, endInclusive: 3, updateFormat: everything };
const tail = { beginExclusive: 0, updateFormat: everything };

describe('a WebSocket', () => {
  it('gets the elements of a bounded stream, a message for each, and is closed without another', async () => {
    const sandbox = await sandboxWith();
    sandbox.append(creation(), creation(), creation());
    for (const path of ['/v2/updates', '/v2/updates/flats']) {
      const client = await stream(sandbox, bounded, { path });
      expect(await client.closed).toBe(1000);
      expect(client.messages).toEqual((await post(sandbox, path, bounded)).json);
      expect(client.messages).toHaveLength(3);
    }
  });

  it('gets what is appended meanwhile, at once', async () => {
    const sandbox = await sandboxWith();
    sandbox.append(creation());
    const client = await stream(sandbox, tail);
    await client.has(1);
    sandbox.append(creation(), creation());
    expect((await client.has(3)).map((message) => at(message, 'update', 'Transaction', 'value', 'offset'))).toEqual([
      1, 2, 3,
    ]);
  });
});
