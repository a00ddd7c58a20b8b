import type * as t from 'io-ts';
import { adapt, nameAt, withFormer } from './internal/Codec.js';
import { optional, repeated, scalar, tag, text } from './internal/field.js';
import { envelope, message } from './internal/message.js';
import { oneOf, unknownVariant } from './internal/variant.js';
import { TraceContext } from './OffsetCheckpoint.js';
import { Offset, Timestamp } from './scalars.js';

const permissions = ['UNSPECIFIED', 'SUBMISSION', 'CONFIRMATION', 'OBSERVATION'];

/** One of the `PARTICIPANT_PERMISSION_…` names, or a newer name. 3.3 sends the index of the name. */
const permission = adapt(
  scalar('ParticipantPermission', text.is),
  nameAt(permissions.map((name) => `PARTICIPANT_PERMISSION_${name}`)),
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

type UnknownTopologyEvent = Extract<TopologyEvent, { readonly _tag: 'UnknownTopologyEvent' }>;

const hosting = { partyId: text, participantId: text };

const granted = <T extends string>(name: T): t.Type<Granted<T>, unknown> =>
  message<Granted<T>>(name, { _tag: tag(name), ...hosting, participantPermission: permission });

/** A one-of with a variant for each kind of event; `wrap` adds the wire envelope of the contents. */
const anyEvent = (wrap: <A>(content: t.Type<A, unknown>) => t.Type<A, unknown>): t.Type<TopologyEvent, unknown> =>
  oneOf<Exclude<TopologyEvent, UnknownTopologyEvent>, UnknownTopologyEvent>(
    'TopologyEvent',
    {
      ParticipantAuthorizationAdded: wrap(granted('ParticipantAuthorizationAdded')),
      ParticipantAuthorizationChanged: wrap(granted('ParticipantAuthorizationChanged')),
      ParticipantAuthorizationOnboarding: wrap(granted('ParticipantAuthorizationOnboarding')),
      ParticipantAuthorizationRevoked: wrap(
        message<Hosting<'ParticipantAuthorizationRevoked'>>('ParticipantAuthorizationRevoked', {
          _tag: tag('ParticipantAuthorizationRevoked'),
          ...hosting,
        }),
      ),
    },
    unknownVariant('UnknownTopologyEvent'),
  );

/**
 * Codec of `TopologyEvent`: `{"event": {"<kind>": {"value": {...}}}}`. It also decodes `{"<kind>": {...}}`, from 3.3.
 *
 * @category Events
 */
export const TopologyEvent: t.Type<TopologyEvent, unknown> = withFormer(
  'TopologyEvent',
  'event',
  envelope(
    'event',
    anyEvent((content) => envelope('value', content)),
  ),
  anyEvent((content) => content),
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
