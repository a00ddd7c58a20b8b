import type * as t from 'io-ts';
import { Codec, fail, isRecord, plainOf } from './internal/Codec.js';
import { optional, repeated, tag, text } from './internal/field.js';
import { envelope, message, withFormerFormat } from './internal/message.js';
import { oneOf, type UnknownVariant } from './internal/variant.js';
import { TraceContext } from './OffsetCheckpoint.js';
import { Offset, Timestamp } from './scalars.js';

const permissions = ['UNSPECIFIED', 'SUBMISSION', 'CONFIRMATION', 'OBSERVATION'] as const;

/** One of the `PARTICIPANT_PERMISSION_…` names, or a newer name. 3.3 sends the index of the name. */
const permission: t.Type<string, unknown> = new Codec<string>(
  'ParticipantPermission',
  text.is,
  (u, sink) => {
    const former = typeof u === 'number' ? permissions[u] : undefined;
    const name = former === undefined ? u : `PARTICIPANT_PERMISSION_${former}`;
    return typeof name === 'string' ? name : fail(u, sink);
  },
  text.encode,
  plainOf(text),
);

type Hosting<T extends string> = {
  /** The kind of event. */
  readonly _tag: T;
} & {
  /** The party. */
  readonly partyId: string;
  /** The participant. */
  readonly participantId: string;
};

type Granted<T extends string> = Hosting<T> & {
  /** The participant's permission for the party: one of the `PARTICIPANT_PERMISSION_…` names, or a newer name. */
  readonly participantPermission: string;
};

/**
 * A change to the hosting of a party, by its `_tag`:
 *
 * - `ParticipantAuthorizationAdded`: a participant started hosting the party.
 * - `ParticipantAuthorizationChanged`: the permission of a participant that hosts the party changed.
 * - `ParticipantAuthorizationOnboarding`: the party's contracts are being copied to a participant. Since 3.5.
 * - `ParticipantAuthorizationRevoked`: a participant stopped hosting the party.
 * - `UnknownTopologyEvent`: an event of a kind that this version does not know, undecoded.
 *
 * The first four have a `partyId` and a `participantId`, and the first three a `participantPermission`: one of the
 * `PARTICIPANT_PERMISSION_…` names, or a newer name. An event has no offset; use the offset of its update.
 *
 * @category Events
 */
export type TopologyEvent =
  | Granted<'ParticipantAuthorizationAdded'>
  | Granted<'ParticipantAuthorizationChanged'>
  | Granted<'ParticipantAuthorizationOnboarding'>
  | Hosting<'ParticipantAuthorizationRevoked'>
  | {
      /** The kind of event. */
      readonly _tag: 'UnknownTopologyEvent';
      /** The wire name of the kind. */
      readonly variant: string;
      /** The content, undecoded. */
      readonly value: unknown;
    };

type EventOf<T extends TopologyEvent['_tag']> = Extract<TopologyEvent, { readonly _tag: T }>;
type UnknownTopologyEvent = EventOf<'UnknownTopologyEvent'>;
type Known = Exclude<TopologyEvent, UnknownTopologyEvent>;

const hosting = { partyId: text, participantId: text };

const granting = { ...hosting, participantPermission: permission };

const events = {
  ParticipantAuthorizationAdded: message<EventOf<'ParticipantAuthorizationAdded'>>('ParticipantAuthorizationAdded', {
    _tag: tag('ParticipantAuthorizationAdded'),
    ...granting,
  }),
  ParticipantAuthorizationChanged: message<EventOf<'ParticipantAuthorizationChanged'>>(
    'ParticipantAuthorizationChanged',
    {
      _tag: tag('ParticipantAuthorizationChanged'),
      ...granting,
    },
  ),
  ParticipantAuthorizationOnboarding: message<EventOf<'ParticipantAuthorizationOnboarding'>>(
    'ParticipantAuthorizationOnboarding',
    {
      _tag: tag('ParticipantAuthorizationOnboarding'),
      ...granting,
    },
  ),
  ParticipantAuthorizationRevoked: message<EventOf<'ParticipantAuthorizationRevoked'>>(
    'ParticipantAuthorizationRevoked',
    {
      _tag: tag('ParticipantAuthorizationRevoked'),
      ...hosting,
    },
  ),
};

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
      ParticipantAuthorizationAdded: wrap(events.ParticipantAuthorizationAdded),
      ParticipantAuthorizationChanged: wrap(events.ParticipantAuthorizationChanged),
      ParticipantAuthorizationOnboarding: wrap(events.ParticipantAuthorizationOnboarding),
      ParticipantAuthorizationRevoked: wrap(events.ParticipantAuthorizationRevoked),
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

/**
 * Codec of `TopologyEvent`. It decodes both wire formats and encodes to the current one.
 *
 * @category Events
 */
export const TopologyEvent: t.Type<TopologyEvent, unknown> = withFormerFormat(
  'TopologyEvent',
  'event',
  current,
  former,
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
