import { createHash, createPublicKey, generateKeyPairSync, KeyObject, sign } from 'node:crypto';
import type { ExternalParty, ExternalPartyOptions, HostedParty, PublicKey } from '../ExternalParty.js';

/** What goes with a kind of key. */
interface SigningScheme {
  readonly algorithm: string;
  readonly formats: readonly string[];
  /** The digest that is signed; `null` for a scheme that signs the message itself. */
  readonly digest: string | null;
}

/** A public key of a party, and how signatures with it look. */
interface SigningKey {
  readonly fingerprint: string;
  readonly key: KeyObject;
  readonly scheme: SigningScheme;
}

/** The keys of an external party. */
export interface PartyKeys {
  readonly keys: readonly SigningKey[];
  /** How many of them have to sign. */
  readonly threshold: number;
}

/** The parties of generated traffic. */
export const generatedParties: readonly string[] = [
  `alice::1220${'a1'.repeat(32)}`,
  `bob::1220${'b0'.repeat(32)}`,
  `carol::1220${'ca'.repeat(32)}`,
  `dora::1220${'d0'.repeat(32)}`,
];

/** The parties of this participant; the external ones with their public keys. */
export class HostedParties {
  readonly #external = new Map<string, PartyKeys>();

  get all(): readonly string[] {
    return [...generatedParties, ...this.#external.keys()];
  }

  add(party: string, keys: PartyKeys): void {
    this.#external.set(party, keys);
  }

  /** The keys of an external party. */
  find(party: string): PartyKeys | undefined {
    return this.#external.get(party);
  }
}

/** What Canton hashes before a key, so that hashes for different purposes never meet. */
const purpose = Buffer.from([0, 0, 0, 12]);

/** The fingerprint of a public key: the multihash of its bytes. */
export function fingerprintOf(publicKey: Uint8Array): string {
  return `1220${createHash('sha256').update(purpose).update(publicKey).digest('hex')}`;
}

/** `Sandbox.externalParty`, for the parties of a participant. */
export function externalPartyOn(hosted: HostedParties) {
  function externalParty(hint: string): ExternalParty;
  function externalParty(hint: string, options: ExternalPartyOptions): HostedParty;
  function externalParty(hint: string, options?: ExternalPartyOptions): HostedParty {
    if (options === undefined) return createExternalParty(hint, hosted);
    const publicKeys = 'publicKey' in options ? [options.publicKey] : options.publicKeys;
    const threshold = 'publicKey' in options ? 1 : options.threshold;
    return hostParty(hint, publicKeys.map(signingKeyOf), threshold ?? publicKeys.length, hosted);
  }
  return externalParty;
}

/** Makes a key pair and hosts its party. The private key stays in the returned object. */
function createExternalParty(hint: string, hosted: HostedParties): ExternalParty {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const party = hostParty(hint, [signingKeyOf(publicKey)], 1, hosted);
  return {
    ...party,
    sign: (preparedTransactionHash) => ({
      format: 'SIGNATURE_FORMAT_CONCAT',
      signature: sign(null, Buffer.from(preparedTransactionHash, 'base64'), privateKey).toString('base64'),
      signedBy: party.fingerprint,
      signingAlgorithmSpec: 'SIGNING_ALGORITHM_SPEC_ED25519',
    }),
  };
}

/** Hosts a party with its keys, the first of which names it. */
function hostParty(hint: string, keys: readonly SigningKey[], threshold: number, hosted: HostedParties): HostedParty {
  const fingerprints = keys.map(({ fingerprint }) => fingerprint);
  const [fingerprint] = fingerprints;
  if (fingerprint === undefined) throw new RangeError('an external party has at least one key');
  if (new Set(fingerprints).size < keys.length) throw new RangeError('the keys of a party are not the same');
  if (!Number.isInteger(threshold) || threshold < 1 || threshold > keys.length) {
    throw new RangeError(`a threshold of ${threshold} does not go with ${keys.length} keys`);
  }
  const party = `${hint}::${fingerprint}`;
  hosted.add(party, { keys, threshold });
  return { party, fingerprint, fingerprints, threshold };
}

const der = ['SIGNATURE_FORMAT_DER'];

/** The schemes by the name that Node.js has for the type of the key or for its curve. */
const signingSchemes: ReadonlyMap<string, SigningScheme> = new Map<string, SigningScheme>([
  [
    'ed25519',
    {
      algorithm: 'SIGNING_ALGORITHM_SPEC_ED25519',
      // the raw format is an older name for the same bytes
      formats: ['SIGNATURE_FORMAT_CONCAT', 'SIGNATURE_FORMAT_RAW'],
      digest: null,
    },
  ],
  ['prime256v1', { algorithm: 'SIGNING_ALGORITHM_SPEC_EC_DSA_SHA_256', formats: der, digest: 'sha256' }],
  ['secp256k1', { algorithm: 'SIGNING_ALGORITHM_SPEC_EC_DSA_SHA_256', formats: der, digest: 'sha256' }],
  ['secp384r1', { algorithm: 'SIGNING_ALGORITHM_SPEC_EC_DSA_SHA_384', formats: der, digest: 'sha384' }],
]);

/** Reads a public key in any of the forms that a caller may have it in. */
function signingKeyOf(publicKey: PublicKey | KeyObject): SigningKey {
  const key = keyObjectOf(publicKey);
  const scheme = signingSchemes.get(key.asymmetricKeyDetails?.namedCurve ?? key.asymmetricKeyType ?? '');
  if (key.type !== 'public' || scheme === undefined) {
    throw new TypeError('a party has public keys of Ed25519, P-256, P-384 or secp256k1');
  }
  const der = key.export({ type: 'spki', format: 'der' });
  // participants went over from raw to DER keys, and Ed25519 keys kept their fingerprints
  const fingerprint = fingerprintOf(key.asymmetricKeyType === 'ed25519' ? der.subarray(-32) : der);
  return { fingerprint, key, scheme };
}

/** What stands before the 32 bytes of an Ed25519 key in its DER form. */
const ed25519Prefix = Buffer.from('302a300506032b6570032100', 'hex');

function keyObjectOf(publicKey: PublicKey | KeyObject): KeyObject {
  if (publicKey instanceof KeyObject) return publicKey;
  if (!(publicKey instanceof Uint8Array)) return KeyObject.from(publicKey);
  const der = publicKey.length === 32 ? Buffer.concat([ed25519Prefix, publicKey]) : Buffer.from(publicKey);
  return createPublicKey({ key: der, type: 'spki', format: 'der' });
}
