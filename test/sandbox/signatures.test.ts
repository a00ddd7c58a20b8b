import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { HostedParty, Sandbox } from '../../src/sandbox/index.js';
import { post, sandboxWith, textAt } from './client.js';
import { createCommand, executeBody, executePath, prepareBody, preparePath } from './requests.js';

const ed25519 = () => generateKeyPairSync('ed25519');
const ec = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve });
const spki = (key: KeyObject): Buffer => key.export({ type: 'spki', format: 'der' });
const multihash = (bytes: Uint8Array): string =>
  `1220${createHash('sha256')
    .update(Buffer.from([0, 0, 0, 12]))
    .update(bytes)
    .digest('hex')}`;

const schemes = {
  ed25519: ['SIGNATURE_FORMAT_CONCAT', 'SIGNING_ALGORITHM_SPEC_ED25519', null],
  sha256: ['SIGNATURE_FORMAT_DER', 'SIGNING_ALGORITHM_SPEC_EC_DSA_SHA_256', 'sha256'],
  sha384: ['SIGNATURE_FORMAT_DER', 'SIGNING_ALGORITHM_SPEC_EC_DSA_SHA_384', 'sha384'],
} as const;

/** Signs a hash as a client does. */
function signature(scheme: keyof typeof schemes, privateKey: KeyObject, signedBy: string, hash: Uint8Array) {
  const [format, signingAlgorithmSpec, digest] = schemes[scheme];
  return { format, signingAlgorithmSpec, signedBy, signature: sign(digest, hash, privateKey).toString('base64') };
}

type Signature = ReturnType<typeof signature>;

/** Prepares for a party, and executes with signatures of the hash. */
async function submit(
  sandbox: Sandbox,
  { party }: HostedParty,
  signatures: (hash: Uint8Array) => readonly Partial<Record<keyof Signature, string>>[],
) {
  const { json } = await post(sandbox, preparePath, prepareBody(party, createCommand));
  const hash = Buffer.from(textAt(json, 'preparedTransactionHash'), 'base64');
  return post(sandbox, executePath, executeBody(json, party, ...signatures(hash)));
}

const failure = (cause: string) => ({
  status: 400,
  json: { code: 'FAILED_TO_EXECUTE_TRANSACTION', errorCategory: 8, cause: expect.stringContaining(cause) },
});

describe('a party whose key the caller holds', () => {
  it.each([
    ['the raw bytes of an Ed25519 key', 'ed25519', ed25519(), (key: KeyObject) => spki(key).subarray(-32)],
    ['the DER bytes of an Ed25519 key', 'ed25519', ed25519(), spki],
    ['the DER bytes of a P-256 key', 'sha256', ec('prime256v1'), spki],
    ['the DER bytes of a secp256k1 key', 'sha256', ec('secp256k1'), spki],
    ['the DER bytes of a P-384 key', 'sha384', ec('secp384r1'), spki],
  ] as const)('is hosted with %s, and signs with it', async (_, scheme, { publicKey, privateKey }, form) => {
    const sandbox = await sandboxWith();
    const party = sandbox.externalParty('eve', { publicKey: form(publicKey) });
    const bytes = scheme === 'ed25519' ? spki(publicKey).subarray(-32) : spki(publicKey);
    expect(party).toEqual({
      party: `eve::${multihash(bytes)}`,
      fingerprint: multihash(bytes),
      fingerprints: [multihash(bytes)],
      threshold: 1,
    });
    expect(sandbox.parties).toContain(party.party);
    const made = (hash: Uint8Array) => [signature(scheme, privateKey, party.fingerprint, hash)];
    expect((await submit(sandbox, party, made)).status).toBe(200);
    expect(sandbox.updates).toHaveLength(1);
  });

  it.each([{ name: 'ECDSA', namedCurve: 'P-256' }, { name: 'Ed25519' }])(
    'is hosted by a key of WebCrypto: %j',
    async (algorithm) => {
      const sandbox = await sandboxWith();
      const { publicKey } = (await crypto.subtle.generateKey(algorithm, false, ['sign', 'verify'])) as CryptoKeyPair;
      const der = Buffer.from(await crypto.subtle.exportKey('spki', publicKey));
      expect(sandbox.externalParty('eve', { publicKey })).toEqual(sandbox.externalParty('eve', { publicKey: der }));
    },
  );

  it('may sign with the older name of the Ed25519 format', async () => {
    const sandbox = await sandboxWith();
    const { publicKey, privateKey } = ed25519();
    const party = sandbox.externalParty('eve', { publicKey: spki(publicKey) });
    const made = (hash: Uint8Array) => [
      { ...signature('ed25519', privateKey, party.fingerprint, hash), format: 'SIGNATURE_FORMAT_RAW' },
    ];
    expect((await submit(sandbox, party, made)).status).toBe(200);
  });

  it('needs a public key of a supported algorithm', async () => {
    const sandbox = await sandboxWith();
    const hosting = (publicKey: Uint8Array) => () => sandbox.externalParty('eve', { publicKey });
    expect(hosting(spki(generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey))).toThrow(TypeError);
    expect(hosting(spki(ec('secp521r1').publicKey))).toThrow(TypeError);
    expect(hosting(Buffer.from('no key'))).toThrow();
    const pair = await crypto.subtle.generateKey({ name: 'Ed25519' }, true, ['sign', 'verify']);
    expect(() => sandbox.externalParty('eve', { publicKey: pair.privateKey })).toThrow(TypeError);
    expect(sandbox.parties).toHaveLength(4);
  });
});

describe('a signature', () => {
  async function withKeys() {
    const sandbox = await sandboxWith();
    const [ed, p256] = [ed25519(), ec('prime256v1')];
    const edParty = sandbox.externalParty('ed', { publicKey: spki(ed.publicKey) });
    const ecParty = sandbox.externalParty('ec', { publicKey: spki(p256.publicKey) });
    const byEd = (hash: Uint8Array) => signature('ed25519', ed.privateKey, edParty.fingerprint, hash);
    const byEc = (hash: Uint8Array) => signature('sha256', p256.privateKey, ecParty.fingerprint, hash);
    return { sandbox, edParty, ecParty, byEd, byEc, p256 };
  }

  it('must be present, valid and of the hash', async () => {
    const { sandbox, edParty, ecParty, byEd, byEc } = await withKeys();
    expect(await submit(sandbox, edParty, () => [])).toMatchObject(failure('0 valid'));
    const garbled = (hash: Uint8Array) => [{ ...byEd(hash), signature: Buffer.alloc(64).toString('base64') }];
    expect(await submit(sandbox, edParty, garbled)).toMatchObject(
      failure('0 valid signatures from distinct keys (1 invalid)'),
    );
    const cut = (hash: Uint8Array) => [{ ...byEc(hash), signature: 'MEUC' }];
    expect(await submit(sandbox, ecParty, cut)).toMatchObject(failure('is wrong'));
    expect(await submit(sandbox, edParty, () => [byEd(Buffer.alloc(32))])).toMatchObject(failure('is wrong'));
    expect(await submit(sandbox, ecParty, () => [byEc(Buffer.alloc(32))])).toMatchObject(failure('is wrong'));
    expect(sandbox.updates).toEqual([]);
  });

  it('must have the format and the algorithm of its key', async () => {
    const { sandbox, edParty, ecParty, byEd, byEc, p256 } = await withKeys();
    const inDer = (hash: Uint8Array) => [{ ...byEd(hash), format: 'SIGNATURE_FORMAT_DER' }];
    expect(await submit(sandbox, edParty, inDer)).toMatchObject(failure('does not fit the key'));
    const asEc = (hash: Uint8Array) => [{ ...byEd(hash), signingAlgorithmSpec: schemes.sha256[1] }];
    expect(await submit(sandbox, edParty, asEc)).toMatchObject(failure('does not fit the key'));
    const concat = (hash: Uint8Array) => {
      const bytes = sign('sha256', hash, { key: p256.privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64');
      return [{ ...byEc(hash), signature: bytes }];
    };
    expect(await submit(sandbox, ecParty, concat)).toMatchObject(failure('is wrong'));
    const named = (hash: Uint8Array) => concat(hash).map((made) => ({ ...made, format: 'SIGNATURE_FORMAT_CONCAT' }));
    expect(await submit(sandbox, ecParty, named)).toMatchObject(failure('does not fit the key'));
  });

  it('must be by a key of the party and for that party', async () => {
    const { sandbox, edParty, ecParty, byEd } = await withKeys();
    expect(await submit(sandbox, ecParty, (hash) => [byEd(hash)])).toMatchObject(failure('is not a key of the party'));
    const disguised = (hash: Uint8Array) => [{ ...byEd(hash), signedBy: ecParty.fingerprint }];
    expect(await submit(sandbox, ecParty, disguised)).toMatchObject(failure('does not fit the key'));
    const { json } = await post(sandbox, preparePath, prepareBody(edParty.party, createCommand));
    const hash = Buffer.from(textAt(json, 'preparedTransactionHash'), 'base64');
    const body = executeBody(json, ecParty.party, byEd(hash));
    expect(await post(sandbox, executePath, body)).toMatchObject(failure('is not the party of the submission'));
  });

  it('is one of at most fifty', async () => {
    const { sandbox, edParty, byEd } = await withKeys();
    const many = (count: number) => (hash: Uint8Array) => Array.from({ length: count }, () => byEd(hash));
    expect(await submit(sandbox, edParty, many(51))).toMatchObject(failure('more than 50'));
    expect((await submit(sandbox, edParty, many(50))).status).toBe(200);
  });
});

describe('a party with several keys', () => {
  async function withThree(threshold?: number) {
    const sandbox = await sandboxWith();
    const pairs = [ed25519(), ec('prime256v1'), ed25519()];
    const publicKeys = pairs.map(({ publicKey }) => spki(publicKey));
    const party = sandbox.externalParty('eve', { publicKeys, ...(threshold !== undefined && { threshold }) });
    const by = (index: number) => (hash: Uint8Array) => {
      const { publicKey, privateKey } = pairs[index] ?? ed25519();
      const scheme = publicKey.asymmetricKeyType === 'ed25519' ? 'ed25519' : 'sha256';
      return signature(scheme, privateKey, party.fingerprints[index] ?? '', hash);
    };
    const submitWith = (...keys: readonly number[]) =>
      submit(sandbox, party, (hash) => keys.map((index) => by(index)(hash)));
    return { sandbox, party, submit: submitWith, publicKeys };
  }

  it('has the fingerprint of the first in its id', async () => {
    const { party } = await withThree();
    expect(party).toMatchObject({ party: `eve::${party.fingerprints[0]}`, threshold: 3 });
    expect(new Set(party.fingerprints).size).toBe(3);
  });

  it('must sign with as many distinct keys as the threshold', async () => {
    const { sandbox, submit } = await withThree(2);
    expect(await submit(0)).toMatchObject(failure('1 valid signatures from distinct keys (0 invalid) of the 2 needed'));
    expect(await submit(1, 1)).toMatchObject(failure('1 valid'));
    expect(sandbox.updates).toEqual([]);
    expect((await submit(1, 2)).status).toBe(200);
  });

  it('must sign with all keys by default', async () => {
    const { submit } = await withThree();
    expect(await submit(0, 2)).toMatchObject(failure('2 valid'));
    expect((await submit(0, 1, 2)).status).toBe(200);
  });

  it('needs at least one key, no duplicates, and a valid threshold', async () => {
    const { sandbox, publicKeys } = await withThree();
    expect(() => sandbox.externalParty('eve', { publicKeys: [] })).toThrow(RangeError);
    expect(() => sandbox.externalParty('eve', { publicKeys: [...publicKeys, ...publicKeys] })).toThrow(RangeError);
    for (const threshold of [0, 4, 1.5, Number.NaN]) {
      expect(() => sandbox.externalParty('eve', { publicKeys, threshold })).toThrow(RangeError);
    }
  });
});
