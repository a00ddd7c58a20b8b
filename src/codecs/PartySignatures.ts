import * as t from 'io-ts';
import { exact } from './internal/exact.js';
import { Party } from './Party.js';
import { Signature } from './Signature.js';

/** The signatures of one party. */
export interface SinglePartySignatures {
  /** Who signs. */
  readonly party: Party;
  /** One or more, by different keys of the party. */
  readonly signatures: readonly Signature[];
}

/** Who authorizes a submission: exactly one party for now, with one or more signatures. */
export interface PartySignatures {
  /** One entry per party; the ledger supports one party so far. */
  readonly signatures: readonly SinglePartySignatures[];
}

const between = <A>(item: t.Type<A, unknown>, least: number, most: number, expected: string) => {
  const list = t.readonlyArray(item);
  const fits = (u: unknown): boolean => Array.isArray(u) && u.length >= least && u.length <= most;
  return new t.Type<readonly A[], unknown>(
    list.name,
    (u): u is readonly A[] => fits(u) && list.is(u),
    (u, context) => (fits(u) ? list.validate(u, context) : t.failure(u, context, expected)),
    (a) => list.encode(a),
  );
};

const SinglePartySignatures = exact<SinglePartySignatures>('SinglePartySignatures', {
  party: Party,
  signatures: between(Signature, 1, Infinity, 'a list of at least one signature'),
});

/** Codec of {@link (PartySignatures:interface)}. */
export const PartySignatures: t.Type<PartySignatures, unknown> = exact<PartySignatures>('PartySignatures', {
  signatures: between(SinglePartySignatures, 1, 1, 'a list of exactly one party with its signatures'),
});
