import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import process from 'node:process';
import { describe, expect, it } from '@jest/globals';
import { build } from 'esbuild';
import { chromium } from 'playwright-core';
import type { SeenInBrowser } from './inBrowser.js';

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
const isThere = existsSync(executablePath);
if (!isThere) console.warn(`not run in a browser: there is no ${executablePath}; set CHROMIUM to one`);

const bundled = async (): Promise<string> => {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, 'inBrowser.ts')],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    logLevel: 'silent',
  });
  return outputFiles[0]?.text ?? '';
};

/** What the script leaves in `seen`, on a page of this machine: a page of nowhere has no IndexedDB. */
async function inChromium(script: string): Promise<SeenInBrowser> {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>test</title>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-sync'],
  });
  try {
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${port}/`);
    await page.addScriptTag({ content: script, type: 'module' });
    await page.waitForFunction('globalThis.seen !== undefined');
    return await page.evaluate<SeenInBrowser>('globalThis.seen');
  } finally {
    await browser.close();
    server.close();
  }
}

describe('in Chromium', () => {
  (isThere ? it : it.skip)(
    'two stores of one database keep places, and give way when it is deleted',
    async () => {
      const { msPerSave, ...seen } = await inChromium(await bundled());
      const cursor = { version: 1, recordTimes: {}, selection: 'any' };
      expect(seen).toEqual({
        before: [undefined],
        loaded: [{ ...cursor, offset: 1 }],
        parked: [0, 9, 10, Number.MAX_SAFE_INTEGER].map((offset) => ({ offset })),
        unparked: [true, false],
        afterDeletion: [undefined],
        last: [{ ...cursor, offset: 49 }],
      });
      console.log(`a save takes ${msPerSave.toFixed(1)} ms in Chromium`);
    },
    60_000,
  );
});
