import { generateKeyPairSync, sign } from 'node:crypto';
import type { ExternalParty } from '../ExternalParty.js';
import type { HostedParties } from './HostedParties.js';
import { hostParty } from './hostParty.js';
import { signingKeyOf } from './signingKeyOf.js';

/** Makes a key pair and hosts its party. The private key stays in the returned object. */
export function createExternalParty(hint: string, hosted: HostedParties): ExternalParty {
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
