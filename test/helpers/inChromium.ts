import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import process from 'node:process';
import { it } from '@jest/globals';
import { build } from 'esbuild';
import { chromium } from 'playwright-core';

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
/** How long a browser may take for anything, on whatever machine: less than a test. */
const patienceMs = 100_000;
const isThere = existsSync(executablePath);
if (!isThere) console.warn(`not run in a browser: there is no ${executablePath}; set CHROMIUM to one`);

/** A test in a browser: skipped where there is none. */
export const itInChromium: typeof it.only = isThere ? it : it.skip;

/**
 * What a module leaves in `seen` when it is run on a page of this machine: on one of nowhere there is no IndexedDB, and no
 * WebCrypto without HTTPS.
 */
export async function inChromium<Seen>(module: string, hash = ''): Promise<Seen> {
  const content = await bundled(module);
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>test</title>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const browser = await chromium.launch({
    executablePath,
    timeout: patienceMs,
    args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-sync'],
  });
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(patienceMs);
    await page.goto(`http://127.0.0.1:${port}/${hash}`);
    await page.addScriptTag({ content, type: 'module' });
    await page.waitForFunction('globalThis.seen !== undefined');
    return await page.evaluate<Seen>('globalThis.seen');
  } finally {
    await browser.close();
    server.close();
  }
}

async function bundled(module: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [module],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    logLevel: 'silent',
  });
  return outputFiles[0]?.text ?? '';
}
