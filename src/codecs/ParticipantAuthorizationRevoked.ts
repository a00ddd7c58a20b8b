import type * as t from 'io-ts';
import { message } from './internal/message.js';
import { tag } from './internal/tag.js';
import { text } from './internal/text.js';

/** A participant no longer hosts a party. */
export interface ParticipantAuthorizationRevoked {
  /** The kind of event. */
  readonly _tag: 'ParticipantAuthorizationRevoked';
  /** The party. */
  readonly partyId: string;
  /** The participant. */
  readonly participantId: string;
}

/** Codec of `ParticipantAuthorizationRevoked`. */
export const ParticipantAuthorizationRevoked: t.Type<ParticipantAuthorizationRevoked, unknown> =
  message<ParticipantAuthorizationRevoked>('ParticipantAuthorizationRevoked', {
    _tag: tag('ParticipantAuthorizationRevoked'),
    partyId: text,
    participantId: text,
  });
