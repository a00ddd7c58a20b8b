import { createHash, createPublicKey, verify } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect } from '@jest/globals';
import { Signature } from '../../src/codecs/ExecuteRequest.js';
import type { BrowserResult } from './inBrowser.js';
import { runInChromium, itInChromium } from '../helpers/browser.js';

describe('in Chromium', () => {
  itInChromium('non-extractable keys sign, and a verifier accepts only honest submissions', async () => {
    const { signed, verdicts } = await runInChromium<BrowserResult>(join(import.meta.dirname, 'inBrowser.ts'));
    expect(verdicts).toEqual(['accepted', 'parties', 'commands', 'accepted', 'parties', 'commands']);
    expect(signed.map(({ isExtractable }) => isExtractable)).toEqual([false, false]);
    const [ed25519, p256] = signed.map(({ signature, spki, fingerprint }) => {
      if (!Signature.is(signature)) throw new Error('no signature');
      const der = Buffer.from(spki, 'base64');
      const isEd25519 = signature.signingAlgorithmSpec === 'SIGNING_ALGORITHM_SPEC_ED25519';
      const digest = createHash('sha256').update(Buffer.from([0, 0, 0, 12]));
      expect(fingerprint).toBe(`1220${digest.update(isEd25519 ? der.subarray(-32) : der).digest('hex')}`);
      expect(signature.signedBy).toBe(fingerprint);
      const key = createPublicKey({ key: der, format: 'der', type: 'spki' });
      const bytes = Buffer.from(signature.signature, 'base64');
      return verify(isEd25519 ? null : 'sha256', new Uint8Array(32).fill(7), key, bytes);
    });
    expect([ed25519, p256]).toEqual([true, true]);
  });
});
