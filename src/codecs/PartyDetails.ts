import type * as t from 'io-ts';
import { flag, lenient, optional, repeated, text } from './internal/field.js';
import { message } from './internal/message.js';

/**
 * A party that a participant knows.
 *
 * @category Ledger
 */
export interface PartyDetails {
  /** The party id: `hint::fingerprint`. */
  readonly party: string;
  /** Whether the participant hosts the party, and the user's identity provider manages it. */
  readonly isLocal: boolean;
  /** The identity provider that manages the party; absent or empty for the default one. */
  readonly identityProviderId?: string;
}

/** A page of parties. */
export interface PartiesPage {
  readonly partyDetails: readonly PartyDetails[];
  /** Absent or empty after the last page. */
  readonly nextPageToken?: string;
}

/** Codec of `PartiesPage`. */
export const PartiesPage: t.Type<PartiesPage, unknown> = /* @__PURE__ */ (() =>
  message<PartiesPage>('PartiesPage', {
    partyDetails: repeated(
      message<PartyDetails>('PartyDetails', {
        party: text,
        isLocal: lenient(flag, false),
        identityProviderId: optional(text),
      }),
    ),
    nextPageToken: optional(text),
  }))();
