import { execFileSync } from 'node:child_process';
import { createPublicKey, generateKeyPairSync, webcrypto } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { fingerprintOf } from '../../src/index.js';
import { fingerprintOf as sandboxFingerprint } from '../../src/sandbox/participant/parties.js';
import { hasOpenssl } from './openssl.js';

const { subtle } = webcrypto;

const imported = (spki: Buffer, algorithm: { name: string; namedCurve?: string }): Promise<webcrypto.CryptoKey> =>
  subtle.importKey('spki', spki, { namedCurve: 'P-256', ...algorithm }, true, ['verify']);

const keys = {
  Ed25519: () => generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'der' }),
  ECDSA: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ type: 'spki', format: 'der' }),
};

describe('fingerprintOf', () => {
  it('is the one by which the sandbox names a party', async () => {
    const spki = keys.Ed25519();
    expect(await fingerprintOf(await imported(spki, { name: 'Ed25519' }))).toBe(sandboxFingerprint(spki.subarray(-32)));
  });

  // A namespace delegation from the tests of canton-network/wallet (Apache-2.0, core/tx-visualizer/src/Tx.test.ts), which
  // holds both the fingerprint of a root key and the key.
  it('is the one that a real participant has computed for an Ed25519 key', async () => {
    const delegation = Buffer.from(
      'CosBCAEQARqEAQqBAQpEMTIyMDEyMzA4N2U2YmY2NmQyMjVkMDQ3ZTZhZjhiMDk0NGJjNTBjYzQ3MGNiNDZhZmQ5NTE1YTU1OGJmNTU2MDU0NDESNxAEGiwwKjAFBgMrZXADIQD6i6Mh8nmGPt1X6XoI8ZfRh2D3eozd7HgsY/abhbRNeyoDAQUEMAEiABAe',
      'base64',
    );
    const start = delegation.indexOf(Buffer.from('302a300506032b6570032100', 'hex'));
    const key = await imported(delegation.subarray(start, start + 44), { name: 'Ed25519' });
    expect(await fingerprintOf(key)).toBe(/1220[0-9a-f]{64}/.exec(delegation.toString('latin1'))?.[0]);
  });

  it('of P-256 is that of the SubjectPublicKeyInfo', async () => {
    const spki = keys.ECDSA();
    expect(await fingerprintOf(await imported(spki, { name: 'ECDSA' }))).toBe(sandboxFingerprint(spki));
  });

  (hasOpenssl ? it : it.skip).each([
    ['Ed25519', keys.Ed25519, 'Ed25519', 12],
    ['P-256', keys.ECDSA, 'ECDSA', 0],
  ] as const)('of %s is what openssl computes', async (_, generate, name, from) => {
    const spki = generate();
    const der = execFileSync('openssl', ['pkey', '-pubin', '-outform', 'DER'], {
      input: createPublicKey({ key: spki, format: 'der', type: 'spki' }).export({ type: 'spki', format: 'pem' }),
    });
    const digest = execFileSync('openssl', ['dgst', '-sha256', '-r'], {
      input: Buffer.concat([Buffer.from([0, 0, 0, 12]), der.subarray(from)]),
      encoding: 'utf8',
    }).slice(0, 64);
    expect(await fingerprintOf(await imported(spki, { name }))).toBe(`1220${digest}`);
  });

  it('is refused for a private key', async () => {
    const { privateKey } = await subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify']);
    await expect(fingerprintOf(privateKey)).rejects.toThrow(TypeError);
  });
});
