import { readFile } from 'node:fs/promises';
import { type IncomingMessage, request, type RequestOptions } from 'node:http';
import { join } from 'node:path';
import process from 'node:process';
import { describe, expect, it } from '@jest/globals';
import { itInChromium } from '../../helpers/browser.js';
import { installation, start } from './explorer/explorer.js';
import { takeScreenshots } from './explorer/takeScreenshots.js';

// one file, since an installation takes minutes
import './explorer/table.js';
import './explorer/navigation.js';
import './explorer/panel.js';
import './explorer/details.js';
import './explorer/submission.js';
import './explorer/feed.js';
import './explorer/gaps.js';
import './explorer/settings.js';
import './explorer/status.js';
import './explorer/screens.js';
import './explorer/contracts.js';
import './explorer/contractsPanel.js';
import './explorer/contractsStates.js';
import './explorer/states.js';
import './explorer/commands.js';
import './explorer/guide.js';

describe('the explorer', () => {
  it('is built without a warning, and the library is a small part of its size', async () => {
    const { folder, output } = installation();
    expect(output).toContain('Application bundle generation complete');
    expect(output).not.toMatch(/WARNING|CommonJS/);
    const { outputs } = JSON.parse(await readFile(join(folder, 'dist', 'stats.json'), 'utf8')) as {
      outputs: Readonly<Record<string, Chunk>>;
    };
    const initial = initialChunks(outputs);
    const bytesOf = (name: string): number =>
      initial
        .flatMap(({ inputs }) => Object.entries(inputs))
        .filter(([path]) => path.includes(`node_modules/${name}/`))
        .reduce((sum, [, { bytesInOutput }]) => sum + bytesInOutput, 0);
    const library = bytesOf('canton-rx');
    console.log(
      `${kB(initial.reduce((sum, { bytes }) => sum + bytes, 0))} at first, of which canton-rx ${kB(library)}, io-ts and fp-ts ${kB(bytesOf('io-ts') + bytesOf('fp-ts'))}, ky ${kB(bytesOf('ky'))}`,
    );
    expect(library).toBeGreaterThan(10_000);
    expect(library).toBeLessThan(240_000);
  });

  it('is served without other files, and rejects requests of other pages', async () => {
    const { url } = await start();
    const send = (path: string, options: RequestOptions = {}) =>
      new Promise<IncomingMessage>((resolve, reject) => {
        // not `fetch`, which would put the path in order first
        request(url, { path, ...options }, resolve)
          .on('error', reject)
          .end(options.method === 'POST' ? '{"count":1}' : undefined);
      });
    const outside = [
      '/../package.json',
      // as to a proxy
      'http://x/../../../package.json',
      '/..%2fpackage.json',
      '/%2e%2e/package.json',
      '/%zz',
      '//',
      '/server',
      '/control/x',
    ];
    const answers = await Promise.all(outside.map((path) => send(path)));
    expect(answers.map(({ statusCode }) => statusCode)).toEqual(outside.map(() => 404));

    const form = { method: 'POST', headers: { 'content-type': 'text/plain' } };
    expect((await send('/control/generate', form)).statusCode).toBe(405);
    const preflight = await send('/control/generate', { method: 'OPTIONS', headers: { origin: 'http://elsewhere' } });
    expect(preflight.headers['access-control-allow-origin']).toBeUndefined();
    const page = await send('/');
    expect(page.headers['content-security-policy']).toContain("default-src 'self'");
  });

  const itDraws = process.env['CANTON_RX_SCREENSHOTS'] === undefined ? it.skip : itInChromium;
  itDraws(
    'is drawn for the documentation',
    async () => {
      const { sandbox, url } = await start();
      const { browser } = installation();
      if (browser !== undefined) await takeScreenshots(browser, sandbox, url);
      expect(sandbox.ledgerEnd).toBeGreaterThan(2_400);
    },
    150_000,
  );
});

/** A file of the build, as esbuild describes it. */
interface Chunk {
  readonly bytes: number;
  readonly entryPoint?: string;
  readonly imports: readonly { readonly path: string; readonly kind: string }[];
  readonly inputs: Readonly<Record<string, { readonly bytesInOutput: number }>>;
}

/** The scripts that are loaded at the start: that of `main.ts`, and those that it imports statically. */
function initialChunks(outputs: Readonly<Record<string, Chunk>>): readonly Chunk[] {
  const [main = ''] = Object.keys(outputs).filter((path) => outputs[path]?.entryPoint?.includes('main.ts') === true);
  const paths = new Set([main]);
  // a set that grows while it is iterated is iterated to its end
  for (const path of paths)
    for (const { kind, path: imported } of outputs[path]?.imports ?? [])
      if (kind === 'import-statement') paths.add(imported);
  return [...paths].flatMap((path) => outputs[path] ?? []);
}

const kB = (bytes: number): string => `${Math.round(bytes / 1_000)} kB`;
