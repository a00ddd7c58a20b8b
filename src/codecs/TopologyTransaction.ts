import * as t from 'io-ts';
import { Codec, isRecord, readBy } from './internal/Codec.js';
import { repeated } from './internal/collection.js';
import { optional, tag, text } from './internal/field.js';
import { enveloped, message } from './internal/message.js';
import { oneOf, type Unknown } from './internal/variant.js';
import { TraceContext } from './OffsetCheckpoint.js';
import { Offset, Timestamp } from './scalars.js';

const names = ['UNSPECIFIED', 'SUBMISSION', 'CONFIRMATION', 'OBSERVATION'] as const;

/** What a participant may do for a party: one of the `PARTICIPANT_PERMISSION_…` names, or a newer one. */
export type ParticipantPermission = string;

/** Codec of `ParticipantPermission`. 3.3 writes the number of the name. */
export const ParticipantPermission: t.Type<ParticipantPermission, unknown> = new t.Type<
  ParticipantPermission,
  unknown,
  unknown
>(
  'ParticipantPermission',
  text.is,
  (u, context) => {
    const former = typeof u === 'number' ? names[u] : undefined;
    const name = former === undefined ? u : `PARTICIPANT_PERMISSION_${former}`;
    return typeof name === 'string' ? t.success(name) : t.failure(u, context);
  },
  t.identity,
);

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

/** A topology event of a kind that this version does not know. It has no offset of its own; the update around it has. */
export interface UnknownTopologyEvent {
  /** The kind of event. */
  readonly _tag: 'UnknownTopologyEvent';
  /** The wire's name of the kind. */
  readonly variant: string;
  /** What stands under that name, undecoded. */
  readonly value: unknown;
}

/** @inline */
type Known =
  | ParticipantAuthorizationAdded
  | ParticipantAuthorizationChanged
  | ParticipantAuthorizationOnboarding
  | ParticipantAuthorizationRevoked;

/** Which participant hosts which party, and how. */
export type TopologyEvent = Known | UnknownTopologyEvent;

const unknownTopologyEvent: Unknown<UnknownTopologyEvent> = {
  is: (u): u is UnknownTopologyEvent => isRecord(u) && u['_tag'] === 'UnknownTopologyEvent',
  decode: (variant, value) => ({ _tag: 'UnknownTopologyEvent', variant, value }),
  expected: 'anything',
};

/** The kinds of event; `wrapped` says how the wire wraps the content of one. */
const kinds = (wrapped: <A>(content: t.Type<A, unknown>) => t.Type<A, unknown>): t.Type<TopologyEvent, unknown> =>
  oneOf<Known, UnknownTopologyEvent>(
    'TopologyEvent',
    {
      ParticipantAuthorizationAdded: wrapped(ParticipantAuthorizationAdded),
      ParticipantAuthorizationChanged: wrapped(ParticipantAuthorizationChanged),
      ParticipantAuthorizationOnboarding: wrapped(ParticipantAuthorizationOnboarding),
      ParticipantAuthorizationRevoked: wrapped(ParticipantAuthorizationRevoked),
    },
    unknownTopologyEvent,
  );

/** `{"event": {"<kind>": {"value": {...}}}}`, from 3.4 on. */
const current = enveloped(
  'event',
  kinds((content) => enveloped('value', content)),
);

/** `{"<kind>": {...}}`, in 3.3. */
const former = kinds((content) => content);

const readCurrent = readBy(current);
const readFormer = readBy(former);

/** Codec of `TopologyEvent`, of either generation of the wire's form; encodes to the current one. */
export const TopologyEvent: t.Type<TopologyEvent, unknown> = new Codec<TopologyEvent>(
  'TopologyEvent',
  current.is,
  (u, why) => (isRecord(u) && 'event' in u ? readCurrent : readFormer)(u, why),
  current.encode,
);

/** The hosting of parties changed. */
export interface TopologyTransaction {
  /** The variant. */
  readonly _tag: 'TopologyTransaction';
  /** The same on every participant that sees it. */
  readonly updateId: string;
  /** What changed. */
  readonly events: readonly TopologyEvent[];
  /** Where it stands on this participant's ledger. */
  readonly offset: Offset;
  /** The synchronizer whose topology changed. */
  readonly synchronizerId: string;
  /** The trace in which it was submitted. */
  readonly traceContext?: TraceContext;
  /** When the synchronizer recorded it. */
  readonly recordTime: Timestamp;
}

/** Codec of `TopologyTransaction`, the JsTopologyTransaction of the ledger's own documents. */
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
