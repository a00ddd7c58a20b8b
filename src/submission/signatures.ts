import { concatMap, from, map, reduce, toArray, type Observable } from 'rxjs';
import type { PartySignatures, SinglePartySignatures } from '../codecs/PartySignatures.js';
import { VerificationError } from '../errors/VerificationError.js';
import { fromBase64 } from './fromBase64.js';
import type { Signer } from './Signer.js';

/** What is signed has this many bytes; the hash of a topology transaction, say, has more. */
const hashBytes = 32;

/** Has all signers sign a hash, one after the other; those of one party together. */
export const signatures = (signers: readonly Signer[], hash: string): Observable<PartySignatures> => {
  if (fromBase64(hash).length !== hashBytes)
    throw new VerificationError('hash', 'the hash is not one of a transaction');
  return from(signers).pipe(
    concatMap((signer) =>
      // bytes of its own: nobody changes what the next one signs
      from(signer.sign(fromBase64(hash))).pipe(
        toArray(),
        map((given) => ({ party: signer.party, signatures: given.flat() })),
      ),
    ),
    reduce<SinglePartySignatures, readonly SinglePartySignatures[]>(joined, []),
    map((all) => ({ signatures: all })),
  );
};

function joined(all: readonly SinglePartySignatures[], one: SinglePartySignatures): readonly SinglePartySignatures[] {
  if (!all.some(({ party }) => party === one.party)) return [...all, one];
  return all.map((entry) =>
    entry.party === one.party ? { ...entry, signatures: [...entry.signatures, ...one.signatures] } : entry,
  );
}
