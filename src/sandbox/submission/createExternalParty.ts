import { generateKeyPairSync, sign } from 'node:crypto';
import type { ExternalParty } from '../ExternalParty.js';
import { fingerprintOf } from './fingerprintOf.js';
import type { HostedParties } from './HostedParties.js';

/** Makes a key pair and hosts its party. The private key stays in the returned object. */
export function createExternalParty(hint: string, hosted: HostedParties): ExternalParty {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  // the DER form of an Ed25519 key ends with the 32 bytes of the key itself
  const fingerprint = fingerprintOf(publicKey.export({ type: 'spki', format: 'der' }).subarray(-32));
  const party = `${hint}::${fingerprint}`;
  hosted.add(party, publicKey);
  return {
    party,
    fingerprint,
    sign: (preparedTransactionHash) => ({
      format: 'SIGNATURE_FORMAT_CONCAT',
      signature: sign(null, Buffer.from(preparedTransactionHash, 'base64'), privateKey).toString('base64'),
      signedBy: fingerprint,
      signingAlgorithmSpec: 'SIGNING_ALGORITHM_SPEC_ED25519',
    }),
  };
}
