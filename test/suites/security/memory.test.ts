import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { build } from 'esbuild';
import { effort } from '../../helpers/effort.js';
import { httpServer, type HttpServer } from '../../helpers/localServers.js';

const MiB = 2 ** 20;
const block = (pattern: string): Buffer => Buffer.alloc(Math.floor(MiB / pattern.length) * pattern.length, pattern);

/** Writes so many MiB, as fast as the client reads them, and stops when the client disconnects. */
function flood(response: ServerResponse, begin: string, pattern: string, count: number, end: string): void {
  const content = block(pattern);
  let left = count;
  const more = (): void => {
    while (left > 0 && !response.destroyed) {
      left -= 1;
      if (!response.write(content)) {
        response.once('drain', more);
        return;
      }
    }
    response.end(end);
  };
  response.on('error', () => undefined);
  response.write(begin);
  more();
}

const bomb = gzipSync(Buffer.alloc(200 * MiB, ' '));

const floods: Readonly<Record<string, (response: ServerResponse) => void>> = {
  blanks: (response) => {
    flood(response, '', ' ', 100, '[]');
  },
  zeros: (response) => {
    flood(response, '[', '0,', 100, '0]');
  },
  string: (response) => {
    flood(response, '["', 'a', 100, '"]');
  },
  length: (response) => {
    response.setHeader('content-length', 100 * MiB);
    flood(response, '', ' ', 100, '');
  },
  bomb: (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
  'bomb-in-bomb': (response) => response.writeHead(200, { 'content-encoding': 'gzip, gzip' }).end(gzipSync(bomb)),
  'string-within-bounds': (response) => {
    flood(response, '["', 'a', 31, '"]');
  },
  'events-that-are-numbers': (response) => {
    flood(response, '[{"update":{"Transaction":{"value":{"offset":1,"events":[', '0,', 20, '0]}}}}]');
  },
  deep: (response) => response.end('['.repeat(MiB) + ']'.repeat(MiB)),
  encodings: (response) => response.writeHead(200, { 'content-encoding': 'gzip, '.repeat(9) + 'gzip' }).end(bomb),
};

let server: HttpServer;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'canton-rx-security-'));
  server = await httpServer((request, response) => {
    const [, name = ''] = (request.url ?? '').split('/');
    if (request.url?.endsWith('/v2/state/ledger-end') === true) response.end('{"offset":100}');
    else floods[name]?.(response);
  });
  await build({
    entryPoints: [join(import.meta.dirname, 'child', 'survivor.ts')],
    outfile: join(folder, 'survivor.mjs'),
    bundle: true,
    platform: 'node',
    format: 'esm',
    // undici's modules are CommonJS
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    logLevel: 'silent',
  });
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

/** What each flood leads to. */
const outcomes: Readonly<Record<string, 'PageLimitError' | 'DecodeError' | 'ConnectionError'>> = {
  // aborting a fetch that had failed with more encodings than it accepts killed the process (Node 20.20)
  encodings: 'ConnectionError',
  blanks: 'PageLimitError',
  // not the form of an update
  deep: 'ConnectionError',
  ...(effort(0, 1, 1) === 1 && {
    zeros: 'PageLimitError',
    string: 'PageLimitError',
    length: 'PageLimitError',
    bomb: 'PageLimitError',
    'bomb-in-bomb': 'PageLimitError',
    'string-within-bounds': 'ConnectionError',
    'events-that-are-numbers': 'DecodeError',
  }),
};

// one process for all, because its start takes longer than a flood
it.each(['fetch', 'undici'])('a process of 256 MiB that reads by %s survives each flood', async (client) => {
  const names = Object.keys(outcomes);
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--max-old-space-size=256',
    join(folder, 'survivor.mjs'),
    client,
    ...names.map((name) => `${server.url}/${name}`),
  ]);
  const lines = stdout.trim().split('\n');
  const found = lines.map((line) => JSON.parse(line) as { outcome: string; workMs: number; peakMb: number });
  if (process.env['SECURITY_FIGURES'] !== undefined) console.log(stdout);
  // undici's port reads nothing that is compressed
  const isCompressed = (name: string): boolean => client === 'undici' && name.startsWith('bomb');
  expect(found.map(({ outcome }) => outcome)).toEqual(
    names.map((name) => (isCompressed(name) ? 'ConnectionError' : outcomes[name])),
  );
  for (const { workMs, peakMb } of found) {
    expect(workMs).toBeLessThan(30_000);
    expect(peakMb).toBeLessThan(600);
  }
});
