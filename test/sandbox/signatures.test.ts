import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { HostedParty, Sandbox } from '../../src/sandbox/index.js';
import { failure, sandboxWith, textAt } from './client.js';
import { execute, executeBody, prepare } from './requests.js';

const ed25519 = () => generateKeyPairSync('ed25519');
const ec = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve });
const spki = (key: KeyObject): Buffer => key.export({ type: 'spki', format: 'der' });
const purpose = Buffer.from([0, 0, 0, 12]);
const multihash = (bytes: Uint8Array) => `1220${createHash('sha256').update(purpose).update(bytes).digest('hex')}`;

const schemes = {
  ed25519: ['SIGNATURE_FORMAT_CONCAT', 'SIGNING_ALGORITHM_SPEC_ED25519', null],
  sha256: ['SIGNATURE_FORMAT_DER', 'SIGNING_ALGORITHM_SPEC_EC_DSA_SHA_256', 'sha256'],
  sha384: ['SIGNATURE_FORMAT_DER', 'SIGNING_ALGORITHM_SPEC_EC_DSA_SHA_384', 'sha384'],
} as const;

/** Signs a hash as a client does. */
const signer = (scheme: keyof typeof schemes, privateKey: KeyObject, signedBy: string) => (hash: Uint8Array) => {
  const [format, signingAlgorithmSpec, digest] = schemes[scheme];
  return { format, signingAlgorithmSpec, signedBy, signature: sign(digest, hash, privateKey).toString('base64') };
};

type Sign = (hash: Uint8Array) => object;

/** Prepares for a party, and executes with signatures of the hash, by default for the same party. */
async function submit(sandbox: Sandbox, { party }: HostedParty, signs: readonly Sign[], signedFor = party) {
  const { json } = await prepare(sandbox, party);
  const hash = Buffer.from(textAt(json, 'preparedTransactionHash'), 'base64');
  return execute(sandbox, executeBody(json, signedFor, ...signs.map((made) => made(hash))));
}

const refused = (cause: string) =>
  failure(400, 'FAILED_TO_EXECUTE_TRANSACTION', { errorCategory: 8, cause: expect.stringContaining(cause) });

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
    const fingerprint = multihash(scheme === 'ed25519' ? spki(publicKey).subarray(-32) : spki(publicKey));
    const hosted = { party: `eve::${fingerprint}`, fingerprint, fingerprints: [fingerprint], threshold: 1 };
    expect(party).toEqual(hosted);
    expect(sandbox.parties).toContain(party.party);
    expect((await submit(sandbox, party, [signer(scheme, privateKey, fingerprint)])).status).toBe(200);
    expect(sandbox.updates).toHaveLength(1);
  });

  it.each([{ name: 'ECDSA', namedCurve: 'P-256' }, { name: 'Ed25519' }])(
    'is hosted by a key of WebCrypto: %j',
    async (algorithm) => {
      const sandbox = await sandboxWith();
      const pair = (await crypto.subtle.generateKey(algorithm, false, ['sign', 'verify'])) as CryptoKeyPair;
      const der = Buffer.from(await crypto.subtle.exportKey('spki', pair.publicKey));
      const hosted = sandbox.externalParty('eve', { publicKey: pair.publicKey });
      expect(hosted).toEqual(sandbox.externalParty('eve', { publicKey: der }));
      expect(() => sandbox.externalParty('eve', { publicKey: pair.privateKey })).toThrow(TypeError);
    },
  );

  it('needs a public key of a supported algorithm', async () => {
    const sandbox = await sandboxWith();
    const hosting = (publicKey: Uint8Array) => () => sandbox.externalParty('eve', { publicKey });
    expect(hosting(spki(generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey))).toThrow(TypeError);
    expect(hosting(spki(ec('secp521r1').publicKey))).toThrow(TypeError);
    expect(hosting(Buffer.from('no key'))).toThrow();
    expect(sandbox.parties).toHaveLength(4);
  });
});

describe('a signature', () => {
  async function withKeys() {
    const sandbox = await sandboxWith();
    const [ed, p256] = [ed25519(), ec('prime256v1')];
    const edParty = sandbox.externalParty('ed', { publicKey: spki(ed.publicKey) });
    const ecParty = sandbox.externalParty('ec', { publicKey: spki(p256.publicKey) });
    const byEd = signer('ed25519', ed.privateKey, edParty.fingerprint);
    const byEc = signer('sha256', p256.privateKey, ecParty.fingerprint);
    return { sandbox, edParty, ecParty, byEd, byEc, p256 };
  }

  type Keys = Awaited<ReturnType<typeof withKeys>>;

  /** The wrong signatures, by party. */
  it.each<[string, string, 'edParty' | 'ecParty', (keys: Keys) => readonly Sign[]]>([
    ['0 valid', 'absent', 'edParty', () => []],
    [
      '0 valid signatures from distinct keys (1 invalid)',
      'of other bytes',
      'edParty',
      ({ byEd }) => [(hash) => ({ ...byEd(hash), signature: Buffer.alloc(64).toString('base64') })],
    ],
    ['is wrong', 'cut off', 'ecParty', ({ byEc }) => [(hash) => ({ ...byEc(hash), signature: 'MEUC' })]],
    ['is wrong', 'of another hash', 'edParty', ({ byEd }) => [() => byEd(Buffer.alloc(32))]],
    ['is wrong', 'of another hash, by ECDSA', 'ecParty', ({ byEc }) => [() => byEc(Buffer.alloc(32))]],
    [
      'does not fit the key',
      'of another format',
      'edParty',
      ({ byEd }) => [(hash) => ({ ...byEd(hash), format: 'SIGNATURE_FORMAT_DER' })],
    ],
    [
      'does not fit the key',
      'of another algorithm',
      'edParty',
      ({ byEd }) => [(hash) => ({ ...byEd(hash), signingAlgorithmSpec: schemes.sha256[1] })],
    ],
    [
      'is wrong',
      'a concatenation of r and s',
      'ecParty',
      ({ byEc, p256 }) => [
        (hash) => {
          const bytes = sign('sha256', hash, { key: p256.privateKey, dsaEncoding: 'ieee-p1363' });
          return { ...byEc(hash), signature: bytes.toString('base64') };
        },
      ],
    ],
    ['is not a key of the party', 'by another party', 'ecParty', ({ byEd }) => [byEd]],
    [
      'does not fit the key',
      'by another party in the name of this one',
      'ecParty',
      ({ byEd, ecParty }) => [(hash) => ({ ...byEd(hash), signedBy: ecParty.fingerprint })],
    ],
    ['more than 50', 'one of 51', 'edParty', ({ byEd }) => Array<Sign>(51).fill(byEd)],
  ])('"%s" if it is %s', async (cause, _, party, signs) => {
    const keys = await withKeys();
    expect(await submit(keys.sandbox, keys[party], signs(keys))).toMatchObject(refused(cause));
    expect(keys.sandbox.updates).toEqual([]);
  });

  it('must be for the party, may be one of fifty, and may have the older name of its format', async () => {
    const { sandbox, edParty, ecParty, byEd } = await withKeys();
    const foreign = await submit(sandbox, edParty, [byEd], ecParty.party);
    expect(foreign).toMatchObject(refused('is not the party of the submission'));
    const raw = (hash: Uint8Array) => ({ ...byEd(hash), format: 'SIGNATURE_FORMAT_RAW' });
    expect((await submit(sandbox, edParty, [...Array<Sign>(49).fill(byEd), raw])).status).toBe(200);
  });
});

describe('a party with several keys', () => {
  async function withThree(threshold?: number) {
    const sandbox = await sandboxWith();
    const pairs = [ed25519(), ec('prime256v1'), ed25519()];
    const publicKeys = pairs.map(({ publicKey }) => spki(publicKey));
    const party = sandbox.externalParty('eve', { publicKeys, ...(threshold !== undefined && { threshold }) });
    const signs = pairs.map(({ publicKey, privateKey }, index) =>
      signer(
        publicKey.asymmetricKeyType === 'ed25519' ? 'ed25519' : 'sha256',
        privateKey,
        party.fingerprints[index] ?? '',
      ),
    );
    const submitWith = (...keys: readonly number[]) =>
      submit(
        sandbox,
        party,
        keys.flatMap((index) => signs[index] ?? []),
      );
    return { sandbox, party, submit: submitWith, publicKeys };
  }

  it('must sign with as many distinct keys as the threshold, by default with all', async () => {
    const two = await withThree(2);
    const [first] = two.party.fingerprints;
    expect(two.party).toMatchObject({ party: `eve::${first}`, threshold: 2 });
    const cause = '1 valid signatures from distinct keys (0 invalid) of the 2 needed';
    expect(await two.submit(0)).toMatchObject(refused(cause));
    expect(await two.submit(1, 1)).toMatchObject(refused('1 valid'));
    expect(two.sandbox.updates).toEqual([]);
    expect((await two.submit(1, 2)).status).toBe(200);
    const all = await withThree();
    expect(await all.submit(0, 2)).toMatchObject(refused('2 valid'));
    expect((await all.submit(0, 1, 2)).status).toBe(200);
  });

  it('needs at least one key, no duplicates, and a valid threshold', async () => {
    const { sandbox, publicKeys } = await withThree();
    expect(() => sandbox.externalParty('eve', { publicKeys: [] })).toThrow(RangeError);
    expect(() => sandbox.externalParty('eve', { publicKeys: [...publicKeys, ...publicKeys] })).toThrow(RangeError);
    for (const threshold of [0, 4, 1.5, Number.NaN])
      expect(() => sandbox.externalParty('eve', { publicKeys, threshold })).toThrow(RangeError);
  });
});
