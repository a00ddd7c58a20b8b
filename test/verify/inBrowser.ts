import { firstValueFrom, from } from 'rxjs';
import { fingerprintOf, webCryptoSigner, isLedgerError } from '../../src/index.js';
import { toBase64 } from '../../src/codecs/internal/field.js';
import { preparedTransactionVerifier } from '../../src/verify/index.js';
import { anyClockSkew, vectors } from './vectors.js';

/** A signature by a key of the browser, with the public key to verify it in Node. */
export interface SignedInBrowser {
  readonly signature: unknown;
  readonly spki: string;
  readonly fingerprint: string;
  readonly isExtractable: boolean;
}

/** The results of the browser. */
export interface BrowserResult {
  readonly signed: readonly SignedInBrowser[];
  readonly verdicts: readonly string[];
}

/** Runs in a page: signs with non-extractable keys, and verifies honest and dishonest submissions. */
async function run(): Promise<BrowserResult> {
  const hash = new Uint8Array(32).fill(7);
  const algorithms = [{ name: 'Ed25519' }, { name: 'ECDSA', namedCurve: 'P-256' }];
  const signed = await Promise.all(
    algorithms.map(async (algorithm): Promise<SignedInBrowser> => {
      const key = await crypto.subtle.generateKey(algorithm, false, ['sign', 'verify']);
      if (!('privateKey' in key)) throw new Error('no pair');
      return {
        signature: await firstValueFrom(from(webCryptoSigner({ party: 'alice::1220ab', key }).sign(hash))),
        spki: toBase64(new Uint8Array(await crypto.subtle.exportKey('spki', key.publicKey))),
        fingerprint: await fingerprintOf(key.publicKey),
        isExtractable: key.privateKey.extractable,
      };
    }),
  );
  const verdicts: string[] = [];
  for (const { prepared, request } of vectors) {
    for (const checked of [request, { ...request, commandId: 'other' }, { ...request, commands: [] }]) {
      try {
        await firstValueFrom(from(preparedTransactionVerifier(anyClockSkew)(prepared, checked)));
        verdicts.push('accepted');
      } catch (error) {
        verdicts.push(isLedgerError(error, 'VerificationError') ? error.reason : String(error));
      }
    }
  }
  return { signed, verdicts };
}

Object.assign(globalThis, { seen: run() });
