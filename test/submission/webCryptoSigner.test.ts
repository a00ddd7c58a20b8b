import { createHash, createPublicKey, type KeyObject, verify, webcrypto } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { firstValueFrom, from } from 'rxjs';
import { Signature } from '../../src/codecs/ExecuteRequest.js';
import { fingerprintOf, webCryptoSigner } from '../../src/index.js';
import { hasOpenssl, verifiedByOpenssl } from './openssl.js';

const { subtle } = webcrypto;
const hash = new Uint8Array(createHash('sha256').update('a transaction').digest());

const ed25519 = async (extractable: boolean): Promise<webcrypto.CryptoKeyPair> => {
  const pair = await subtle.generateKey('Ed25519', extractable, ['sign', 'verify']);
  if (!('privateKey' in pair)) throw new Error('no pair');
  return pair;
};
const p256 = (extractable: boolean, namedCurve = 'P-256'): Promise<webcrypto.CryptoKeyPair> =>
  subtle.generateKey({ name: 'ECDSA', namedCurve }, extractable, ['sign', 'verify']);

const inNode = async (key: webcrypto.CryptoKey): Promise<KeyObject> =>
  createPublicKey({ key: Buffer.from(await subtle.exportKey('spki', key)), format: 'der', type: 'spki' });

const kinds = [
  {
    name: 'Ed25519',
    generate: ed25519,
    digest: null,
    expected: { format: 'SIGNATURE_FORMAT_CONCAT', signingAlgorithmSpec: 'SIGNING_ALGORITHM_SPEC_ED25519' },
  },
  {
    name: 'ECDSA on P-256',
    generate: p256,
    digest: 'sha256',
    expected: { format: 'SIGNATURE_FORMAT_DER', signingAlgorithmSpec: 'SIGNING_ALGORITHM_SPEC_EC_DSA_SHA_256' },
  },
];

describe('webCryptoSigner', () => {
  describe.each(kinds)('with $name', ({ generate, digest, expected }) => {
    it.each([true, false])('signs as node:crypto verifies; extractable: %p', async (extractable) => {
      const key = await generate(extractable);
      const signer = webCryptoSigner({ party: 'alice::1220ab', key });
      const signature = await firstValueFrom(from(signer.sign(hash)));
      if (!Signature.is(signature)) throw new Error('no signature');
      const bytes = Buffer.from(signature.signature, 'base64');
      expect(signer.party).toBe('alice::1220ab');
      expect(signature).toMatchObject({ ...expected, signedBy: await fingerprintOf(key.publicKey) });
      expect(verify(digest, hash, await inNode(key.publicKey), bytes)).toBe(true);
      expect(
        verify(
          digest,
          hash.map((byte) => byte ^ 1),
          await inNode(key.publicKey),
          bytes,
        ),
      ).toBe(false);
    });

    it('signs often, each time validly, with numbers of every length', async () => {
      const key = await generate(false);
      const signer = webCryptoSigner({ party: 'a', key, fingerprint: 'f' });
      const inspected = await inNode(key.publicKey);
      const lengths = new Set<number>();
      for (let turn = 0; turn < 200; turn++) {
        const message = new Uint8Array(createHash('sha256').update(String(turn)).digest());
        const signature = await firstValueFrom(from(signer.sign(message)));
        if (!Signature.is(signature)) throw new Error('no signature');
        const bytes = Buffer.from(signature.signature, 'base64');
        lengths.add(bytes.length);
        expect(verify(digest, message, inspected, bytes)).toBe(true);
      }
      expect(lengths.size).toBe(digest === null ? 1 : lengths.size);
      if (digest !== null) expect(lengths.size).toBeGreaterThan(1);
    });

    (hasOpenssl ? it : it.skip)('signs as the openssl command verifies', async () => {
      const key = await generate(false);
      const signature = await firstValueFrom(from(webCryptoSigner({ party: 'a', key }).sign(hash)));
      if (!Signature.is(signature)) throw new Error('no signature');
      const pem = (await inNode(key.publicKey)).export({ type: 'spki', format: 'pem' }).toString();
      expect(verifiedByOpenssl(pem, hash, Buffer.from(signature.signature, 'base64'), digest !== null)).toBe(
        'Signature Verified Successfully',
      );
    });

    it('takes a fingerprint in place of an exportable public key', async () => {
      const key = await generate(false);
      const spki = await subtle.exportKey('spki', key.publicKey);
      const publicKey = await subtle.importKey('spki', spki, key.publicKey.algorithm, false, ['verify']);
      const closed = { privateKey: key.privateKey, publicKey };
      expect(() => webCryptoSigner({ party: 'a', key: closed })).toThrow(TypeError);
      const signer = webCryptoSigner({ party: 'a', key: closed, fingerprint: '1220cd' });
      expect(await firstValueFrom(from(signer.sign(hash)))).toMatchObject({ signedBy: '1220cd' });
    });

    it('refuses a private key that does not sign', async () => {
      const { publicKey } = await generate(true);
      expect(() => webCryptoSigner({ party: 'a', key: { privateKey: publicKey, publicKey } })).toThrow(
        'the private key does not sign',
      );
    });
  });

  it.each([
    ['ECDSA on P-384', () => p256(true, 'P-384')],
    ['ECDSA on P-521', () => p256(true, 'P-521')],
    [
      'RSA',
      () =>
        subtle.generateKey(
          { name: 'RSA-PSS', modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' },
          true,
          ['sign', 'verify'],
        ),
    ],
    ['ECDH', () => subtle.generateKey({ name: 'ECDH', namedCurve: 'P-256' }, true, ['deriveBits'])],
  ])('refuses another algorithm at once: %s', async (_, generate) => {
    const key = await generate();
    expect(() => webCryptoSigner({ party: 'a', key })).toThrow(TypeError);
    await expect(fingerprintOf(key.publicKey)).rejects.toThrow(TypeError);
  });

  it('refuses two keys of different kinds', async () => {
    const [{ privateKey }, { publicKey }] = await Promise.all([ed25519(true), p256(true)]);
    expect(() => webCryptoSigner({ party: 'a', key: { privateKey, publicKey } })).toThrow('not a pair');
  });
});
