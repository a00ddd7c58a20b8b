import type * as t from 'io-ts';
import { message } from './internal/message.js';
import { tag } from './internal/tag.js';
import { text } from './internal/text.js';
import { ParticipantPermission } from './ParticipantPermission.js';

/** A participant began to host a party. */
export interface ParticipantAuthorizationAdded {
  /** The kind of event. */
  readonly _tag: 'ParticipantAuthorizationAdded';
  /** The party. */
  readonly partyId: string;
  /** The participant. */
  readonly participantId: string;
  /** What the participant may do for the party. */
  readonly participantPermission: ParticipantPermission;
}

/** Codec of `ParticipantAuthorizationAdded`. */
export const ParticipantAuthorizationAdded: t.Type<ParticipantAuthorizationAdded, unknown> =
  message<ParticipantAuthorizationAdded>('ParticipantAuthorizationAdded', {
    _tag: tag('ParticipantAuthorizationAdded'),
    partyId: text,
    participantId: text,
    participantPermission: ParticipantPermission,
  });
