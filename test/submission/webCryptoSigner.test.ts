import { createHash, createPublicKey, generateKeyPairSync, type KeyObject, verify, webcrypto } from 'node:crypto';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { firstValueFrom, from } from 'rxjs';
import { Signature } from '../../src/codecs/ExecuteRequest.js';
import { fingerprintOf, webCryptoSigner } from '../../src/index.js';
import { externalPartyMethod, HostedParties } from '../../src/sandbox/participant/parties.js';

const { subtle } = webcrypto;
const hash = new Uint8Array(createHash('sha256').update('a transaction').digest());

const ed25519 = async (extractable: boolean): Promise<webcrypto.CryptoKeyPair> => {
  const pair = await subtle.generateKey('Ed25519', extractable, ['sign', 'verify']);
  if (!('privateKey' in pair)) throw new Error('no pair');
  return pair;
};
const p256 = (extractable: boolean, namedCurve = 'P-256'): Promise<webcrypto.CryptoKeyPair> =>
  subtle.generateKey({ name: 'ECDSA', namedCurve }, extractable, ['sign', 'verify']);

const toKeyObject = async (key: webcrypto.CryptoKey): Promise<KeyObject> =>
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
    it.each([true, false])('makes signatures that node:crypto verifies; extractable: %p', async (extractable) => {
      const key = await generate(extractable);
      const signer = webCryptoSigner({ party: 'alice::1220ab', key });
      const signature = await firstValueFrom(from(signer.sign(hash)));
      if (!Signature.is(signature)) throw new Error('no signature');
      const bytes = Buffer.from(signature.signature, 'base64');
      expect(signer.party).toBe('alice::1220ab');
      expect(signature).toMatchObject({ ...expected, signedBy: await fingerprintOf(key.publicKey) });
      expect(verify(digest, hash, await toKeyObject(key.publicKey), bytes)).toBe(true);
      expect(
        verify(
          digest,
          hash.map((byte) => byte ^ 1),
          await toKeyObject(key.publicKey),
          bytes,
        ),
      ).toBe(false);
    });

    it('makes valid signatures with numbers of every length', async () => {
      const key = await generate(false);
      const signer = webCryptoSigner({ party: 'a', key, fingerprint: 'f' });
      const publicKey = await toKeyObject(key.publicKey);
      const lengths = new Set<number>();
      for (let i = 0; i < 200; i++) {
        const message = new Uint8Array(createHash('sha256').update(String(i)).digest());
        const signature = await firstValueFrom(from(signer.sign(message)));
        if (!Signature.is(signature)) throw new Error('no signature');
        const bytes = Buffer.from(signature.signature, 'base64');
        lengths.add(bytes.length);
        expect(verify(digest, message, publicKey, bytes)).toBe(true);
      }
      // DER has numbers of several lengths
      expect(lengths.size > 1).toBe(digest !== null);
    });

    it('takes a fingerprint instead of an extractable public key', async () => {
      const key = await generate(false);
      const spki = await subtle.exportKey('spki', key.publicKey);
      const publicKey = await subtle.importKey('spki', spki, key.publicKey.algorithm, false, ['verify']);
      const closed = { privateKey: key.privateKey, publicKey };
      expect(() => webCryptoSigner({ party: 'a', key: closed })).toThrow(TypeError);
      const signer = webCryptoSigner({ party: 'a', key: closed, fingerprint: '1220cd' });
      expect(await firstValueFrom(from(signer.sign(hash)))).toMatchObject({ signedBy: '1220cd' });
    });

    it('refuses a private key that cannot sign', async () => {
      const { publicKey } = await generate(true);
      expect(() => webCryptoSigner({ party: 'a', key: { privateKey: publicKey, publicKey } })).toThrow(
        "the private key must have the usage 'sign'",
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
    expect(() => webCryptoSigner({ party: 'a', key: { privateKey, publicKey } })).toThrow(
      'are for different algorithms',
    );
  });
});

describe('an ECDSA signature in DER', () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
  const number = (text: string): Uint8Array => Buffer.from(text.padStart(64, '0'), 'hex');
  const pair = p256(true);

  /** The signature that the signer makes of WebCrypto's two numbers. */
  async function der(r: Uint8Array, s: Uint8Array): Promise<Uint8Array> {
    const concatenated = new Uint8Array([...r, ...s]).buffer;
    const spy = jest.spyOn(crypto.subtle, 'sign').mockResolvedValue(concatenated);
    const signer = webCryptoSigner({ party: 'a', key: await pair, fingerprint: 'f' });
    const signature = await firstValueFrom(from(signer.sign(hash)));
    spy.mockRestore();
    if (!Signature.is(signature)) throw new Error('no signature');
    return Buffer.from(signature.signature, 'base64');
  }

  /** Reads the two numbers of strict DER, or throws. */
  function readNumbers(bytes: Uint8Array): readonly bigint[] {
    if (bytes[0] !== 0x30 || bytes[1] !== bytes.length - 2) throw new Error('no sequence');
    const numbers: bigint[] = [];
    for (let at = 2; at < bytes.length;) {
      const length = bytes[at + 1] ?? 0;
      const content = bytes.subarray(at + 2, at + 2 + length);
      const [first = 0, second = 0] = content;
      if (bytes[at] !== 0x02 || length === 0 || content.length !== length) throw new Error('no integer');
      if (first > 0x7f) throw new Error('negative');
      if (length > 1 && first === 0 && second < 0x80) throw new Error('not the shortest');
      numbers.push(BigInt(`0x${hex(content)}`));
      at += 2 + length;
    }
    return numbers;
  }

  it.each([
    ['drops leading zeros', '01', '7f', '300602010102017f'],
    ['adds a zero before a high bit', '80', 'ff', '3008020200800202' + '00ff'],
    ['keeps other zeros', '010000', '0080', '3009' + '0203010000' + '02020080'],
    ['writes zero as one byte', '00', '01', '3006' + '020100' + '020101'],
    ['writes the longest numbers', 'f'.repeat(64), 'f'.repeat(64), `3046${`022100${'f'.repeat(64)}`.repeat(2)}`],
  ])('%s', async (_, r, s, expected) => {
    expect(hex(await der(number(r), number(s)))).toBe(expected);
  });

  it('keeps both numbers, in their shortest form', async () => {
    const half = fc
      .tuple(fc.nat({ max: 32 }), fc.uint8Array({ minLength: 32, maxLength: 32 }))
      .map(([zeros, bytes]) => bytes.map((byte, index) => (index < zeros ? 0 : byte)));
    await fc.assert(
      fc.asyncProperty(half, half, async (r, s) => {
        const value = (bytes: Uint8Array): bigint => BigInt(`0x${hex(bytes)}`);
        expect(readNumbers(await der(r, s))).toEqual([value(r), value(s)]);
      }),
    );
  });
});

const importKey = (spki: Buffer, algorithm: { name: string; namedCurve?: string }): Promise<webcrypto.CryptoKey> =>
  subtle.importKey('spki', spki, { namedCurve: 'P-256', ...algorithm }, true, ['verify']);

const spkis = {
  Ed25519: () => generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'der' }),
  ECDSA: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ type: 'spki', format: 'der' }),
};

describe('fingerprintOf', () => {
  const sandboxFingerprint = (publicKey: Uint8Array): string =>
    externalPartyMethod(new HostedParties())('alice', { publicKey }).fingerprint;

  it('is that of the sandbox', async () => {
    const spki = spkis.Ed25519();
    expect(await fingerprintOf(await importKey(spki, { name: 'Ed25519' }))).toBe(sandboxFingerprint(spki));
  });

  // A namespace delegation from the tests of canton-network/wallet (Apache-2.0, core/tx-visualizer/src/Tx.test.ts), which
  // holds both the fingerprint of a root key and the key.
  it('is that of a real participant for an Ed25519 key', async () => {
    const delegation = Buffer.from(
      'CosBCAEQARqEAQqBAQpEMTIyMDEyMzA4N2U2YmY2NmQyMjVkMDQ3ZTZhZjhiMDk0NGJjNTBjYzQ3MGNiNDZhZmQ5NTE1YTU1OGJmNTU2MDU0NDESNxAEGiwwKjAFBgMrZXADIQD6i6Mh8nmGPt1X6XoI8ZfRh2D3eozd7HgsY/abhbRNeyoDAQUEMAEiABAe',
      'base64',
    );
    const start = delegation.indexOf(Buffer.from('302a300506032b6570032100', 'hex'));
    const key = await importKey(delegation.subarray(start, start + 44), { name: 'Ed25519' });
    expect(await fingerprintOf(key)).toBe(/1220[0-9a-f]{64}/.exec(delegation.toString('latin1'))?.[0]);
  });

  it('is that of the SubjectPublicKeyInfo for P-256', async () => {
    const spki = spkis.ECDSA();
    expect(await fingerprintOf(await importKey(spki, { name: 'ECDSA' }))).toBe(sandboxFingerprint(spki));
  });

  it('rejects for a private key', async () => {
    const { privateKey } = await subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify']);
    await expect(fingerprintOf(privateKey)).rejects.toThrow(TypeError);
  });
});
