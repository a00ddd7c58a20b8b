import { Party } from '../../codecs/Party.js';
import { readMatching } from './readMatching.js';

/** The parties that `--party` names; any, where there is none. Throws a `UsageError`. */
export function readParties(texts: readonly string[] | undefined): readonly Party[] | 'any' {
  const parties = readMatching('party', texts, Party, 'a party id, hint::fingerprint');
  return parties.length > 0 ? parties : 'any';
}
