import { createHash, createPublicKey, generateKeyPairSync, KeyObject, sign, type webcrypto } from 'node:crypto';

/**
 * A party hosted on the sandbox, with a key pair that the sandbox generated.
 *
 * @category Sandbox
 */
export interface ExternalParty extends HostedParty {
  /**
   * Signs the `preparedTransactionHash` from a prepare response.
   *
   * @param preparedTransactionHash - the hash in base64
   */
  readonly sign: (preparedTransactionHash: string) => WireSignature;
}

/**
 * A party hosted on the sandbox that signs its submissions itself.
 *
 * @category Sandbox
 */
export interface HostedParty {
  /** The party id: `hint::fingerprint`. */
  readonly party: string;
  /**
   * The fingerprint of the first public key: `1220` followed by a SHA-256 hash in hex. The hash covers the number 12 in
   * four bytes, followed by the raw bytes of an Ed25519 key or the DER bytes of the SubjectPublicKeyInfo of an ECDSA
   * key.
   */
  readonly fingerprint: string;
  /** The fingerprints of all public keys. */
  readonly fingerprints: readonly string[];
  /** The number of keys that must sign a submission. */
  readonly threshold: number;
}

/**
 * The public keys of a party. The caller holds the private keys.
 *
 * @example
 * ```ts
 * import { startSandbox } from 'canton-rx/sandbox';
 *
 * const sandbox = await startSandbox();
 * const { publicKey } = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign', 'verify']);
 * const { party, fingerprint } = sandbox.externalParty('alice', { publicKey });
 * console.log(party === `alice::${fingerprint}`);
 * await sandbox.close();
 * ```
 * @category Sandbox
 */
export type ExternalPartyOptions =
  | {
      /** The only key of the party. */
      readonly publicKey: PublicKey;
    }
  | {
      /** The keys of the party. The party id contains the fingerprint of the first key. */
      readonly publicKeys: readonly PublicKey[];
      /**
       * The number of keys that must sign a submission.
       *
       * @defaultValue all of them
       */
      readonly threshold?: number;
    };

/**
 * A public key for Ed25519, or for ECDSA on P-256, P-384 or secp256k1: a WebCrypto key, the DER bytes of a
 * SubjectPublicKeyInfo (`spki`), or the 32 raw bytes of an Ed25519 key.
 *
 * @category Sandbox
 */
export type PublicKey = webcrypto.CryptoKey | Uint8Array;

/**
 * A signature for the `partySignatures` of an execute request.
 *
 * @category Sandbox
 */
export interface WireSignature {
  /** The concatenation of r and s. */
  readonly format: 'SIGNATURE_FORMAT_CONCAT';
  /** The signature in base64. */
  readonly signature: string;
  /** The fingerprint of the key. */
  readonly signedBy: string;
  /** Always Ed25519. */
  readonly signingAlgorithmSpec: 'SIGNING_ALGORITHM_SPEC_ED25519';
}

/** The parties of generated traffic. */
export const generatedParties: readonly string[] = [
  `alice::1220${'a1'.repeat(32)}`,
  `bob::1220${'b0'.repeat(32)}`,
  `carol::1220${'ca'.repeat(32)}`,
  `dora::1220${'d0'.repeat(32)}`,
];

/** The parties of the participant. External parties have public keys; for all others, the participant signs. */
export class HostedParties {
  readonly #allocated = new Set<string>();
  readonly #external = new Map<string, PartyKeys>();

  get all(): readonly string[] {
    return [...generatedParties, ...this.#allocated, ...this.#external.keys()];
  }

  /** Hosts a party for which the participant signs. */
  allocate(hint: string, participantId: string): string {
    if (!/^[A-Za-z0-9:\-_ ]+$/.test(hint)) throw new TypeError(`'${hint}' is not a hint for a party id`);
    const party = `${hint}::${participantId.slice(participantId.lastIndexOf(':') + 1)}`;
    this.#allocated.add(party);
    return party;
  }

  /** Whether the participant signs for a party. */
  isLocal(party: string): boolean {
    return generatedParties.includes(party) || this.#allocated.has(party);
  }

  add(party: string, keys: PartyKeys): void {
    this.#external.set(party, keys);
  }

  /** The keys of an external party. */
  find(party: string): PartyKeys | undefined {
    return this.#external.get(party);
  }
}

/** The keys of an external party. */
export interface PartyKeys {
  readonly keys: readonly SigningKey[];
  /** The number of keys that must sign. */
  readonly threshold: number;
}

/** A public key of a party, with its scheme. */
interface SigningKey {
  readonly fingerprint: string;
  readonly key: KeyObject;
  readonly scheme: SigningScheme;
}

/** The signatures of a type of key. */
interface SigningScheme {
  readonly algorithm: string;
  readonly formats: readonly string[];
  /** The digest to sign; `null` for a scheme that signs the message itself. */
  readonly digest: string | null;
}

/** Creates `Sandbox.externalParty` for the parties of a participant. */
export function externalPartyMethod(hosted: HostedParties) {
  function externalParty(hint: string): ExternalParty;
  function externalParty(hint: string, options: ExternalPartyOptions): HostedParty;
  function externalParty(hint: string, options?: ExternalPartyOptions): HostedParty {
    if (options === undefined) return createExternalParty(hint, hosted);
    const publicKeys = 'publicKey' in options ? [options.publicKey] : options.publicKeys;
    const threshold = 'publicKey' in options ? 1 : options.threshold;
    return hostParty(hint, publicKeys.map(parseSigningKey), threshold ?? publicKeys.length, hosted);
  }
  return externalParty;
}

/** Generates a key pair and hosts a party with it. Only the returned object contains the private key. */
function createExternalParty(hint: string, hosted: HostedParties): ExternalParty {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const party = hostParty(hint, [parseSigningKey(publicKey)], 1, hosted);
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

/** Hosts a party. The party id contains the fingerprint of the first key. */
function hostParty(hint: string, keys: readonly SigningKey[], threshold: number, hosted: HostedParties): HostedParty {
  const fingerprints = keys.map(({ fingerprint }) => fingerprint);
  const [fingerprint] = fingerprints;
  if (fingerprint === undefined) throw new RangeError('An external party requires at least one key');
  if (new Set(fingerprints).size < keys.length) throw new RangeError('The keys of an external party must differ');
  if (!Number.isInteger(threshold) || threshold < 1 || threshold > keys.length) {
    throw new RangeError(
      `The threshold ${threshold} must be an integer between 1 and the number of keys, ${keys.length}`,
    );
  }
  const party = `${hint}::${fingerprint}`;
  hosted.add(party, { keys, threshold });
  return { party, fingerprint, fingerprints, threshold };
}

/** Reads a public key in any of the supported forms. */
function parseSigningKey(publicKey: PublicKey | KeyObject): SigningKey {
  const key = toKeyObject(publicKey);
  const scheme = signingSchemes[key.asymmetricKeyDetails?.namedCurve ?? key.asymmetricKeyType ?? ''];
  if (key.type !== 'public' || scheme === undefined) {
    throw new TypeError('The keys of an external party must be public keys for Ed25519, P-256, P-384 or secp256k1');
  }
  const der = key.export({ type: 'spki', format: 'der' });
  // participants now use DER keys, but Ed25519 keys keep the fingerprint of their raw bytes
  const fingerprint = fingerprintOf(key.asymmetricKeyType === 'ed25519' ? der.subarray(-32) : der);
  return { fingerprint, key, scheme };
}

const derFormat = ['SIGNATURE_FORMAT_DER'];

const ecdsa256 = { algorithm: 'SIGNING_ALGORITHM_SPEC_EC_DSA_SHA_256', formats: derFormat, digest: 'sha256' };

/** The schemes by Node's name of the key type or of the curve. */
const signingSchemes: Readonly<Record<string, SigningScheme>> = {
  ed25519: {
    algorithm: 'SIGNING_ALGORITHM_SPEC_ED25519',
    // RAW is an older name of the same format
    formats: ['SIGNATURE_FORMAT_CONCAT', 'SIGNATURE_FORMAT_RAW'],
    digest: null,
  },
  prime256v1: ecdsa256,
  secp256k1: ecdsa256,
  secp384r1: { algorithm: 'SIGNING_ALGORITHM_SPEC_EC_DSA_SHA_384', formats: derFormat, digest: 'sha384' },
};

/** Canton hashes this prefix before a key, so that hashes for different purposes never collide. */
const signingKeyPurpose = Buffer.from([0, 0, 0, 12]);

/** The fingerprint of a public key: the multihash of its bytes. */
function fingerprintOf(publicKey: Uint8Array): string {
  return `1220${createHash('sha256').update(signingKeyPurpose).update(publicKey).digest('hex')}`;
}

/** The DER bytes before the 32 bytes of an Ed25519 key. */
const ed25519Prefix = Buffer.from('302a300506032b6570032100', 'hex');

function toKeyObject(publicKey: PublicKey | KeyObject): KeyObject {
  if (publicKey instanceof KeyObject) return publicKey;
  if (!(publicKey instanceof Uint8Array)) return KeyObject.from(publicKey);
  const der = publicKey.length === 32 ? Buffer.concat([ed25519Prefix, publicKey]) : Buffer.from(publicKey);
  return createPublicKey({ key: der, type: 'spki', format: 'der' });
}
