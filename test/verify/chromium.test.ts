import { createPublicKey, verify } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect } from '@jest/globals';
import { Signature } from '../../src/codecs/ExecuteRequest.js';
import { fingerprintOf } from '../../src/sandbox/participant/parties.js';
import { inChromium, itInChromium } from '../helpers/inChromium.js';
import type { SeenInBrowser } from './inBrowser.js';

describe('in Chromium', () => {
  itInChromium('keys that stay there sign, and a verifier accepts what is honest alone', async () => {
    const { signed, verdicts } = await inChromium<SeenInBrowser>(join(import.meta.dirname, 'inBrowser.ts'));
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
  });
});
