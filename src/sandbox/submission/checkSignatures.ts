import { verify } from 'node:crypto';
import { refused } from '../errors/refused.js';
import type { HostedParties } from './HostedParties.js';
import type { PartySignature } from './PartySignature.js';

/** The raw format is an older name for the same bytes. */
const formats = ['SIGNATURE_FORMAT_CONCAT', 'SIGNATURE_FORMAT_RAW'];

/** Refuses a submission unless its party, and nobody else, has signed the hash. */
export function checkSignatures(
  signatures: readonly PartySignature[],
  party: string,
  hash: Uint8Array,
  hosted: HostedParties,
): void {
  if (signatures.length === 0) throw failed('no signature was given');
  for (const given of signatures) {
    const key = hosted.keyOf(given.party);
    if (given.party !== party || key === undefined) throw failed(`${given.party} is not the party of the submission`);
    if (given.signedBy !== party.slice(party.indexOf('::') + 2)) throw failed(`unknown key ${given.signedBy}`);
    if (given.algorithm !== 'SIGNING_ALGORITHM_SPEC_ED25519' || !formats.includes(given.format)) {
      throw failed(`${given.algorithm} in ${given.format} does not fit the key`);
    }
    if (!verify(null, hash, key, given.signature)) throw failed('the signature is invalid');
  }
}

function failed(reason: string) {
  return refused('FAILED_TO_EXECUTE_TRANSACTION', `Signature check failed: ${reason}`);
}
