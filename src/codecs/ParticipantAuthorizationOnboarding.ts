import type * as t from 'io-ts';
import { message } from './internal/message.js';
import { tag } from './internal/tag.js';
import { text } from './internal/text.js';
import { ParticipantPermission } from './ParticipantPermission.js';

/** A participant is about to host a party: its contracts are being copied. Since 3.5. */
export interface ParticipantAuthorizationOnboarding {
  /** The kind of event. */
  readonly _tag: 'ParticipantAuthorizationOnboarding';
  /** The party. */
  readonly partyId: string;
  /** The participant. */
  readonly participantId: string;
  /** What the participant may do for the party. */
  readonly participantPermission: ParticipantPermission;
}

/** Codec of `ParticipantAuthorizationOnboarding`. */
export const ParticipantAuthorizationOnboarding: t.Type<ParticipantAuthorizationOnboarding, unknown> =
  message<ParticipantAuthorizationOnboarding>('ParticipantAuthorizationOnboarding', {
    _tag: tag('ParticipantAuthorizationOnboarding'),
    partyId: text,
    participantId: text,
    participantPermission: ParticipantPermission,
  });
