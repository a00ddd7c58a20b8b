import { existsSync } from 'node:fs';
import process from 'node:process';
import { it } from '@jest/globals';
import { build } from 'esbuild';
import { type Browser, chromium } from 'playwright-core';
import { httpServer } from './localServers.js';

/** Debian's programs: the first has the same engine, without windows, and takes two thirds of the CPU time. */
const programs = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];
const executablePath = process.env['CHROMIUM'] ?? programs.find((path) => existsSync(path)) ?? programs.join(' or ');
/** The time limit of every browser operation, for machines that stall, too; below the time limit of a test. */
export const timeoutMs = 150_000;
const isInstalled = existsSync(executablePath);
if (!isInstalled) console.warn(`not run in a browser: there is no ${executablePath}; set CHROMIUM to one`);

const launch = (): Promise<Browser> =>
  chromium.launch({
    executablePath,
    timeout: timeoutMs,
    args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-sync'],
  });

/** Starts Chromium for the tests of a file, if it is installed. */
export const launchChromium = (): Promise<Browser> | undefined => (isInstalled ? launch() : undefined);

/** A test in a browser, skipped where no Chromium is installed. */
export const itInChromium: typeof it.only = isInstalled ? it : it.skip;

/**
 * Runs a module on a page in Chromium and returns what it assigns to `globalThis.seen`. The page is served from loopback,
 * because a page without an origin has no IndexedDB and, without HTTPS, no WebCrypto.
 */
export async function runInChromium<Seen>(module: string, hash = ''): Promise<Seen> {
  const { outputFiles } = await build({
    entryPoints: [module],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    logLevel: 'silent',
  });
  const server = await httpServer((_, response) => {
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>test</title>');
  });
  const browser = await launch();
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(timeoutMs);
    await page.goto(`${server.url}/${hash}`);
    await page.addScriptTag({ content: outputFiles[0]?.text ?? '', type: 'module' });
    await page.waitForFunction('globalThis.seen !== undefined');
    return await page.evaluate<Seen>('globalThis.seen');
  } finally {
    await browser.close();
    await server.close();
  }
}
