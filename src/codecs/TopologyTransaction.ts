import * as t from 'io-ts';
import { Codec, isRecord, readerOf } from './internal/Codec.js';
import { repeated } from './internal/collection.js';
import { optional, tag, text } from './internal/field.js';
import { envelope, message } from './internal/message.js';
import { oneOf, type UnknownVariant } from './internal/variant.js';
import { TraceContext } from './OffsetCheckpoint.js';
import { Offset, Timestamp } from './scalars.js';

const permissions = ['UNSPECIFIED', 'SUBMISSION', 'CONFIRMATION', 'OBSERVATION'] as const;

/**
 * The permission of a participant for a party: one of the `PARTICIPANT_PERMISSION_…` names, or a newer name.
 *
 * @category Events
 */
export type ParticipantPermission = string;

/**
 * Codec of `ParticipantPermission`. It also decodes the index of the name, which 3.3 sends.
 *
 * @category Events
 */
export const ParticipantPermission: t.Type<ParticipantPermission, unknown> = new t.Type<
  ParticipantPermission,
  unknown,
  unknown
>(
  'ParticipantPermission',
  text.is,
  (u, context) => {
    const former = typeof u === 'number' ? permissions[u] : undefined;
    const name = former === undefined ? u : `PARTICIPANT_PERMISSION_${former}`;
    return typeof name === 'string' ? t.success(name) : t.failure(u, context);
  },
  t.identity,
);

/** The party and the participant that hosts it. */
const hosting = { partyId: text, participantId: text };

/**
 * A participant started hosting a party.
 *
 * @category Events
 */
export interface ParticipantAuthorizationAdded {
  /** The kind of event. */
  readonly _tag: 'ParticipantAuthorizationAdded';
  /** The party. */
  readonly partyId: string;
  /** The participant. */
  readonly participantId: string;
  /** The participant's permission for the party. */
  readonly participantPermission: ParticipantPermission;
}

/**
 * Codec of `ParticipantAuthorizationAdded`.
 *
 * @category Events
 */
export const ParticipantAuthorizationAdded: t.Type<ParticipantAuthorizationAdded, unknown> =
  message<ParticipantAuthorizationAdded>('ParticipantAuthorizationAdded', {
    _tag: tag('ParticipantAuthorizationAdded'),
    ...hosting,
    participantPermission: ParticipantPermission,
  });

/**
 * A participant's permission for a party that it hosts changed.
 *
 * @category Events
 */
export interface ParticipantAuthorizationChanged {
  /** The kind of event. */
  readonly _tag: 'ParticipantAuthorizationChanged';
  /** The party. */
  readonly partyId: string;
  /** The participant. */
  readonly participantId: string;
  /** The participant's permission for the party. */
  readonly participantPermission: ParticipantPermission;
}

/**
 * Codec of `ParticipantAuthorizationChanged`.
 *
 * @category Events
 */
export const ParticipantAuthorizationChanged: t.Type<ParticipantAuthorizationChanged, unknown> =
  message<ParticipantAuthorizationChanged>('ParticipantAuthorizationChanged', {
    _tag: tag('ParticipantAuthorizationChanged'),
    ...hosting,
    participantPermission: ParticipantPermission,
  });

/**
 * A participant is being onboarded for a party: the party's contracts are being copied to it. Since 3.5.
 *
 * @category Events
 */
export interface ParticipantAuthorizationOnboarding {
  /** The kind of event. */
  readonly _tag: 'ParticipantAuthorizationOnboarding';
  /** The party. */
  readonly partyId: string;
  /** The participant. */
  readonly participantId: string;
  /** The participant's permission for the party. */
  readonly participantPermission: ParticipantPermission;
}

/**
 * Codec of `ParticipantAuthorizationOnboarding`.
 *
 * @category Events
 */
export const ParticipantAuthorizationOnboarding: t.Type<ParticipantAuthorizationOnboarding, unknown> =
  message<ParticipantAuthorizationOnboarding>('ParticipantAuthorizationOnboarding', {
    _tag: tag('ParticipantAuthorizationOnboarding'),
    ...hosting,
    participantPermission: ParticipantPermission,
  });

/**
 * A participant stopped hosting a party.
 *
 * @category Events
 */
export interface ParticipantAuthorizationRevoked {
  /** The kind of event. */
  readonly _tag: 'ParticipantAuthorizationRevoked';
  /** The party. */
  readonly partyId: string;
  /** The participant. */
  readonly participantId: string;
}

/**
 * Codec of `ParticipantAuthorizationRevoked`.
 *
 * @category Events
 */
export const ParticipantAuthorizationRevoked: t.Type<ParticipantAuthorizationRevoked, unknown> =
  message<ParticipantAuthorizationRevoked>('ParticipantAuthorizationRevoked', {
    _tag: tag('ParticipantAuthorizationRevoked'),
    ...hosting,
  });

/**
 * A topology event of a kind that this version does not know, undecoded. It has no offset; use the offset of its
 * update.
 *
 * @category Events
 */
export interface UnknownTopologyEvent {
  /** The kind of event. */
  readonly _tag: 'UnknownTopologyEvent';
  /** The wire name of the kind. */
  readonly variant: string;
  /** The content, undecoded. */
  readonly value: unknown;
}

/** @inline */
type Known =
  | ParticipantAuthorizationAdded
  | ParticipantAuthorizationChanged
  | ParticipantAuthorizationOnboarding
  | ParticipantAuthorizationRevoked;

/**
 * A change to the hosting of a party.
 *
 * @category Events
 */
export type TopologyEvent = Known | UnknownTopologyEvent;

const unknownTopologyEvent: UnknownVariant<UnknownTopologyEvent> = {
  is: (u): u is UnknownTopologyEvent => isRecord(u) && u['_tag'] === 'UnknownTopologyEvent',
  decode: (variant, value) => ({ _tag: 'UnknownTopologyEvent', variant, value }),
  expected: 'anything',
};

/** A one-of with a variant for each kind of event; `wrap` adds the wire envelope of the contents. */
const anyEvent = (wrap: <A>(content: t.Type<A, unknown>) => t.Type<A, unknown>): t.Type<TopologyEvent, unknown> =>
  oneOf<Known, UnknownTopologyEvent>(
    'TopologyEvent',
    {
      ParticipantAuthorizationAdded: wrap(ParticipantAuthorizationAdded),
      ParticipantAuthorizationChanged: wrap(ParticipantAuthorizationChanged),
      ParticipantAuthorizationOnboarding: wrap(ParticipantAuthorizationOnboarding),
      ParticipantAuthorizationRevoked: wrap(ParticipantAuthorizationRevoked),
    },
    unknownTopologyEvent,
  );

/** `{"event": {"<kind>": {"value": {...}}}}`, since 3.4. */
const current = envelope(
  'event',
  anyEvent((content) => envelope('value', content)),
);

/** `{"<kind>": {...}}`, in 3.3. */
const former = anyEvent((content) => content);

const readCurrent = readerOf(current);
const readFormer = readerOf(former);

/**
 * Codec of `TopologyEvent`. It decodes both wire formats and encodes to the current one.
 *
 * @category Events
 */
export const TopologyEvent: t.Type<TopologyEvent, unknown> = new Codec<TopologyEvent>(
  'TopologyEvent',
  current.is,
  (u, sink) => (isRecord(u) && 'event' in u ? readCurrent : readFormer)(u, sink),
  current.encode,
);

/**
 * The hosting of parties changed.
 *
 * @category Updates
 */
export interface TopologyTransaction {
  /** The variant. */
  readonly _tag: 'TopologyTransaction';
  /** The id of the update: the same on every participant that sees it. */
  readonly updateId: string;
  /** The changes. */
  readonly events: readonly TopologyEvent[];
  /** The update's position on this participant's ledger. */
  readonly offset: Offset;
  /** The synchronizer whose topology changed. */
  readonly synchronizerId: string;
  /** The trace context of the submission. */
  readonly traceContext?: TraceContext;
  /** When the synchronizer recorded the update. */
  readonly recordTime: Timestamp;
}

/**
 * Codec of `TopologyTransaction`, `JsTopologyTransaction` in the ledger's documentation.
 *
 * @category Updates
 */
export const TopologyTransaction: t.Type<TopologyTransaction, unknown> = message<TopologyTransaction>(
  'TopologyTransaction',
  {
    _tag: tag('TopologyTransaction'),
    updateId: text,
    events: repeated(TopologyEvent),
    offset: Offset,
    synchronizerId: text,
    traceContext: optional(TraceContext),
    recordTime: Timestamp,
  },
);
