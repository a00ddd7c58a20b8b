import type * as t from 'io-ts';
import { Filters } from './Filters.js';
import { mapOf, repeated } from './internal/collection.js';
import { flag, nullable, oneOfStrings, withDefault } from './internal/field.js';
import { exact } from './internal/message.js';
import { type Opt, Party } from './scalars.js';

/**
 * The parties and the contracts whose events a request selects.
 *
 * @category Requests
 */
export interface EventFormat {
  /** The filters by party; the token's user must be allowed to read as each of them. Default: no party. */
  readonly filtersByParty?: Opt<Readonly<Record<Party, Filters>>>;
  /** The filters of every party of the participant; the token's user must be allowed to read as any party. */
  readonly filtersForAnyParty?: Opt<Filters>;
  /** Whether gRPC values have labels and type ids; no effect on JSON. Default: false. */
  readonly verbose?: Opt<boolean>;
}

/**
 * Codec of `EventFormat`.
 *
 * @category Requests
 */
export const EventFormat: t.Type<EventFormat, unknown> = exact<EventFormat>('EventFormat', {
  filtersByParty: withDefault(mapOf(Party, Filters), {}),
  filtersForAnyParty: nullable(Filters),
  verbose: withDefault(flag, false),
});

/**
 * The parties whose hosting a request selects.
 *
 * @category Requests
 */
export interface ParticipantAuthorizationFormat {
  /** The parties; an empty list is all parties. Default: all. */
  readonly parties?: Opt<readonly Party[]>;
}

/**
 * The topology events that a request selects.
 *
 * @category Requests
 */
export interface TopologyFormat {
  /** Changes of the participants that host a party; absent for none. */
  readonly includeParticipantAuthorizationEvents?: Opt<ParticipantAuthorizationFormat>;
}

const ParticipantAuthorizationFormat = exact<ParticipantAuthorizationFormat>('ParticipantAuthorizationFormat', {
  parties: withDefault(repeated(Party), []),
});

/**
 * Codec of `TopologyFormat`.
 *
 * @category Requests
 */
export const TopologyFormat: t.Type<TopologyFormat, unknown> = exact<TopologyFormat>('TopologyFormat', {
  includeParticipantAuthorizationEvents: nullable(ParticipantAuthorizationFormat),
});

/**
 * `TRANSACTION_SHAPE_ACS_DELTA`: creations and archivals of contracts on which a requesting party is a stakeholder.
 * `TRANSACTION_SHAPE_LEDGER_EFFECTS`: creations and exercises of which a requesting party is an informee.
 *
 * @category Requests
 */
export type TransactionShape = 'TRANSACTION_SHAPE_ACS_DELTA' | 'TRANSACTION_SHAPE_LEDGER_EFFECTS';

/**
 * Codec of `TransactionShape`.
 *
 * @category Requests
 */
export const TransactionShape: t.Type<TransactionShape, TransactionShape> = oneOfStrings<TransactionShape>(
  'TransactionShape',
  'TRANSACTION_SHAPE_ACS_DELTA',
  'TRANSACTION_SHAPE_LEDGER_EFFECTS',
);

/**
 * The events of transactions that a request selects, and their shape.
 *
 * @category Requests
 */
export interface TransactionFormat {
  /** The parties and the contracts. */
  readonly eventFormat: EventFormat;
  /** Changes of active contracts, or all effects. */
  readonly transactionShape: TransactionShape;
}

/**
 * Codec of `TransactionFormat`.
 *
 * @category Requests
 */
export const TransactionFormat: t.Type<TransactionFormat, unknown> = exact<TransactionFormat>('TransactionFormat', {
  eventFormat: EventFormat,
  transactionShape: TransactionShape,
});

/**
 * The updates that a request selects. {@link acsDelta} and {@link ledgerEffects} build one without the nesting.
 *
 * @category Requests
 */
export interface UpdateFormat {
  /** Transactions; absent for none. */
  readonly includeTransactions?: Opt<TransactionFormat>;
  /** Reassignments; absent for none. */
  readonly includeReassignments?: Opt<EventFormat>;
  /** Topology transactions; absent for none. */
  readonly includeTopologyEvents?: Opt<TopologyFormat>;
}

/**
 * Codec of `UpdateFormat`.
 *
 * @category Requests
 */
export const UpdateFormat: t.Type<UpdateFormat, unknown> = exact<UpdateFormat>('UpdateFormat', {
  includeTransactions: nullable(TransactionFormat),
  includeReassignments: nullable(EventFormat),
  includeTopologyEvents: nullable(TopologyFormat),
});
