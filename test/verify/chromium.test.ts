import { createPublicKey, verify } from 'node:crypto';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import process from 'node:process';
import { describe, expect, it } from '@jest/globals';
import { build } from 'esbuild';
import { chromium } from 'playwright-core';
import { Signature } from '../../src/codecs/Signature.js';
import { fingerprintOf } from '../../src/sandbox/submission/fingerprintOf.js';
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

/** What the script leaves in `seen`, on a page of this machine: elsewhere there is no WebCrypto without HTTPS. */
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
    'keys that stay there sign, and a verifier accepts what is honest alone',
    async () => {
      const { signed, verdicts } = await inChromium(await bundled());
      expect(verdicts).toEqual(['accepted', 'parties', 'commands', 'accepted', 'parties', 'commands']);
      expect(signed.map(({ isExtractable }) => isExtractable)).toEqual([false, false]);
      const [ed25519, p256] = signed.map(({ signature, spki, fingerprint }) => {
        if (!Signature.is(signature)) throw new Error('no signature');
        const der = Buffer.from(spki, 'base64');
        const isEd25519 = signature.signingAlgorithmSpec === 'SIGNING_ALGORITHM_SPEC_ED25519';
        expect(fingerprint).toBe(fingerprintOf(isEd25519 ? der.subarray(-32) : der));
        expect(signature.signedBy).toBe(fingerprint);
        const key = createPublicKey({ key: der, format: 'der', type: 'spki' });
        const bytes = Buffer.from(signature.signature, 'base64');
        return verify(isEd25519 ? null : 'sha256', new Uint8Array(32).fill(7), key, bytes);
      });
      expect([ed25519, p256]).toEqual([true, true]);
    },
    60_000,
  );
});
