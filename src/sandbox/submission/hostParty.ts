import type { HostedParty } from '../HostedParty.js';
import type { HostedParties } from './HostedParties.js';
import type { SigningKey } from './SigningKey.js';

/** Hosts a party with its keys, the first of which names it. */
export function hostParty(
  hint: string,
  keys: readonly SigningKey[],
  threshold: number,
  hosted: HostedParties,
): HostedParty {
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
