import type * as t from 'io-ts';
import { Filters } from './Filters.js';
import { mapOf, repeated } from './internal/collection.js';
import { flag, nullable, oneOfStrings, withDefault } from './internal/field.js';
import { exact } from './internal/message.js';
import { type Opt, Party } from './scalars.js';

/** Whose events of which contracts are asked for. */
export interface EventFormat {
  /** The filters of each party; the token's user must be allowed to read as it. Default: no party. */
  readonly filtersByParty?: Opt<Readonly<Record<Party, Filters>>>;
  /** The filters of every party of the participant; the token's user must be allowed to read as any party. */
  readonly filtersForAnyParty?: Opt<Filters>;
  /** Whether gRPC values carry labels and type ids; JSON does not change by it. Default: false. */
  readonly verbose?: Opt<boolean>;
}

/** Codec of `EventFormat`. */
export const EventFormat: t.Type<EventFormat, unknown> = exact<EventFormat>('EventFormat', {
  filtersByParty: withDefault(mapOf(Party, Filters), {}),
  filtersForAnyParty: nullable(Filters),
  verbose: withDefault(flag, false),
});

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

/**
 * `TRANSACTION_SHAPE_ACS_DELTA`: creations and archivals of contracts on which a requesting party is a stakeholder.
 * `TRANSACTION_SHAPE_LEDGER_EFFECTS`: creations and exercises that a requesting party is informed of.
 */
export type TransactionShape = 'TRANSACTION_SHAPE_ACS_DELTA' | 'TRANSACTION_SHAPE_LEDGER_EFFECTS';

/** Codec of `TransactionShape`. */
export const TransactionShape: t.Type<TransactionShape, TransactionShape> = oneOfStrings<TransactionShape>(
  'TransactionShape',
  'TRANSACTION_SHAPE_ACS_DELTA',
  'TRANSACTION_SHAPE_LEDGER_EFFECTS',
);

/** Which events of transactions are asked for, and in which shape. */
export interface TransactionFormat {
  /** Whose events of which contracts. */
  readonly eventFormat: EventFormat;
  /** Changes of active contracts, or all effects. */
  readonly transactionShape: TransactionShape;
}

/** Codec of `TransactionFormat`. */
export const TransactionFormat: t.Type<TransactionFormat, unknown> = exact<TransactionFormat>('TransactionFormat', {
  eventFormat: EventFormat,
  transactionShape: TransactionShape,
});

/** Which updates are asked for. {@link acsDelta} and {@link ledgerEffects} build one without the nesting. */
export interface UpdateFormat {
  /** Transactions; absent for none. */
  readonly includeTransactions?: Opt<TransactionFormat>;
  /** Reassignments; absent for none. */
  readonly includeReassignments?: Opt<EventFormat>;
  /** Topology transactions; absent for none. */
  readonly includeTopologyEvents?: Opt<TopologyFormat>;
}

/** Codec of `UpdateFormat`. */
export const UpdateFormat: t.Type<UpdateFormat, unknown> = exact<UpdateFormat>('UpdateFormat', {
  includeTransactions: nullable(TransactionFormat),
  includeReassignments: nullable(EventFormat),
  includeTopologyEvents: nullable(TopologyFormat),
});
