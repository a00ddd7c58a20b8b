import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, describe, expect, it } from '@jest/globals';
import { startSandbox } from '../../../src/sandbox/index.js';
import { freePort, until } from '../../helpers/servers.js';
import { writeProgram } from './examples.js';

const root = join(import.meta.dirname, '..', '..', '..');
const sandbox = await startSandbox();
let server: ChildProcess | undefined;

afterAll(async () => {
  server?.kill();
  await sandbox.close();
});

describe('the server of the guide', () => {
  it('sends the contracts of the user of a request, and refuses others', async () => {
    const port = await freePort();
    const file = writeProgram(root, 'contracts-server.mts');
    const program = readFileSync(file, 'utf8')
      .replace('http://127.0.0.1:7575', sandbox.url)
      .replace('8080', String(port));
    writeFileSync(file, program);
    server = spawn(process.execPath, [file], { stdio: 'inherit' });
    const request = (token: string) =>
      fetch(`http://127.0.0.1:${port}/`, { headers: { authorization: `Bearer ${token}` } });
    await until(() =>
      request('token-of-mallory').then(
        ({ status }) => status === 401,
        () => false,
      ),
    );
    const { status, body } = await request('token-of-alice');
    const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (!text.includes('event: reset'))
      text += (await reader?.read())?.value ?? 'event: reset, but the stream ended';
    await reader?.cancel();
    expect(status).toBe(200);
    expect(text).toMatch(/^retry: 1000\n\nevent: reset\nid: [0-9a-f]{32}-\d+\ndata: \{"version":1,/);
  });
});
