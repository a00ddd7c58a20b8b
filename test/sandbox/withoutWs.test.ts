import { describe, expect, it, jest } from '@jest/globals';
import { text } from 'node:stream/consumers';
import { creation, readUpdates } from './requests.js';
import { connectTo, sandboxWith } from './client.js';

jest.unstable_mockModule('ws', () => {
  throw new Error('Cannot find package');
});

const upgrade = [
  'GET /v2/updates HTTP/1.1',
  'Host: sandbox',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  `Sec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}`,
  'Sec-WebSocket-Protocol: daml.ws.auth',
];

describe('a sandbox without the package ws', () => {
  it('reports that the package must be installed, and closes the connection', async () => {
    const sandbox = await sandboxWith();
    const socket = connectTo(sandbox);
    socket.write([...upgrade, '', ''].join('\r\n'));
    const answer = await text(socket);
    expect(answer).toMatch(/^HTTP\/1.1 501 Not Implemented\r\n/);
    expect(answer).toMatch(/content-type: text\/plain; charset=UTF-8\r\n/i);
    expect(answer).toMatch(/npm install --save-dev ws@\S+\r\n$/);
    expect(sandbox.requests).toMatchObject([{ method: 'GET', status: 501, aborted: false }]);
  });

  it('serves everything else', async () => {
    const sandbox = await sandboxWith();
    sandbox.append(creation());
    expect((await readUpdates(sandbox)).json).toHaveLength(1);
  });
});
