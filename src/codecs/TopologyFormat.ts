import type * as t from 'io-ts';
import { exact } from './internal/exact.js';
import { nullable } from './internal/nullable.js';
import { repeated } from './internal/repeated.js';
import { withDefault } from './internal/withDefault.js';
import type { Opt } from './Opt.js';
import { Party } from './Party.js';

/** Whose hosting is asked for. */
export interface ParticipantAuthorizationFormat {
  /** The parties; none at all is all of them. Default: all. */
  readonly parties?: Opt<readonly Party[]>;
}

/** Which topology events are asked for. */
export interface TopologyFormat {
  /** The changes of which participant hosts which party; absent for none. */
  readonly includeParticipantAuthorizationEvents?: Opt<ParticipantAuthorizationFormat>;
}

const ParticipantAuthorizationFormat = exact<ParticipantAuthorizationFormat>('ParticipantAuthorizationFormat', {
  parties: withDefault(repeated(Party), []),
});

/** Codec of `TopologyFormat`. */
export const TopologyFormat: t.Type<TopologyFormat, unknown> = exact<TopologyFormat>('TopologyFormat', {
  includeParticipantAuthorizationEvents: nullable(ParticipantAuthorizationFormat),
});
