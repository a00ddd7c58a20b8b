import type * as t from 'io-ts';
import { exact } from './internal/exact.js';
import { list } from './internal/list.js';
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

const SinglePartySignatures = exact<SinglePartySignatures>('SinglePartySignatures', {
  party: Party,
  signatures: list(Signature, 1, Infinity, 'at least one signature'),
});

/** Codec of `PartySignatures`. */
export const PartySignatures: t.Type<PartySignatures, unknown> = exact<PartySignatures>('PartySignatures', {
  signatures: list(SinglePartySignatures, 1, 1, 'exactly one party'),
});
