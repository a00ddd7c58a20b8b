import { verify } from 'node:crypto';
import { refused } from '../errors/refused.js';
import type { HostedParties, PartyKeys } from './HostedParties.js';
import type { PartySignature } from './PartySignature.js';

const most = 50;

/** Refuses a submission unless as many keys of its party as have to, and nobody else, have signed the hash. */
export function checkSignatures(
  signatures: readonly PartySignature[],
  party: string,
  hash: Uint8Array,
  hosted: HostedParties,
): void {
  const keys = hosted.find(party);
  if (keys === undefined) throw failed(`${party} is no external party of this participant`);
  if (signatures.length > most) throw failed(`${signatures.length} signatures are more than ${most}`);
  const foreign = signatures.find((given) => given.party !== party);
  if (foreign !== undefined) throw failed(`${foreign.party} is not the party of the submission`);
  const faults = signatures.map((given) => faultOf(given, keys, hash));
  const valid = new Set(signatures.filter((_, index) => faults[index] === undefined).map(({ signedBy }) => signedBy));
  if (valid.size >= keys.threshold) return;
  const reasons = faults.filter((fault) => fault !== undefined);
  const counts = `${valid.size} valid signatures from distinct keys (${reasons.length} invalid)`;
  throw failed([`${counts} of the ${keys.threshold} needed for ${party}`, ...new Set(reasons)].join('; '));
}

/** What is wrong with a signature. */
function faultOf(given: PartySignature, { keys }: PartyKeys, hash: Uint8Array): string | undefined {
  const known = keys.find(({ fingerprint }) => fingerprint === given.signedBy);
  if (known === undefined) return `${given.signedBy} is no key of the party`;
  const { algorithm, formats, digest } = known.scheme;
  if (given.algorithm !== algorithm || !formats.includes(given.format)) {
    return `${given.algorithm} in ${given.format} does not fit the key`;
  }
  return verify(digest, hash, known.key, given.signature) ? undefined : `the signature of ${given.signedBy} is wrong`;
}

function failed(reason: string) {
  return refused('FAILED_TO_EXECUTE_TRANSACTION', `Signature check failed: ${reason}`);
}
