import type * as t from 'io-ts';
import { Codec, readBy } from './internal/Codec.js';
import { enveloped } from './internal/enveloped.js';
import { isRecord } from './internal/isRecord.js';
import { oneOf, type Unknown } from './internal/oneOf.js';
import { ParticipantAuthorizationAdded } from './ParticipantAuthorizationAdded.js';
import { ParticipantAuthorizationChanged } from './ParticipantAuthorizationChanged.js';
import { ParticipantAuthorizationOnboarding } from './ParticipantAuthorizationOnboarding.js';
import { ParticipantAuthorizationRevoked } from './ParticipantAuthorizationRevoked.js';

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
