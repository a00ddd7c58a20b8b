import type * as t from 'io-ts';
import { message } from './internal/message.js';
import { tag } from './internal/tag.js';
import { text } from './internal/text.js';
import { ParticipantPermission } from './ParticipantPermission.js';

/** A participant's permission for a party it hosts changed. */
export interface ParticipantAuthorizationChanged {
  /** The kind of event. */
  readonly _tag: 'ParticipantAuthorizationChanged';
  /** The party. */
  readonly partyId: string;
  /** The participant. */
  readonly participantId: string;
  /** What the participant may do for the party. */
  readonly participantPermission: ParticipantPermission;
}

/** Codec of `ParticipantAuthorizationChanged`. */
export const ParticipantAuthorizationChanged: t.Type<ParticipantAuthorizationChanged, unknown> =
  message<ParticipantAuthorizationChanged>('ParticipantAuthorizationChanged', {
    _tag: tag('ParticipantAuthorizationChanged'),
    partyId: text,
    participantId: text,
    participantPermission: ParticipantPermission,
  });
