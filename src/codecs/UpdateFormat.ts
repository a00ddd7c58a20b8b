import type * as t from 'io-ts';
import { type Filters, partyFilters } from './Filters.js';
import { flag, nullable, oneOfStrings, repeated, withDefault } from './internal/field.js';
import { exact } from './internal/message.js';
import { type Opt, Party } from './scalars.js';

/**
 * Selects events by party and by contract.
 *
 * @category Requests
 */
export interface EventFormat {
  /** The filters by party. The token's user must have the right to read as each party. Default: no party. */
  readonly filtersByParty?: Opt<Readonly<Record<Party, Filters>>>;
  /** The filters for every party of the participant. The token's user must have the right to read as any party. */
  readonly filtersForAnyParty?: Opt<Filters>;
  /** Whether gRPC values include labels and type ids; has no effect on JSON. Default: false. */
  readonly verbose?: Opt<boolean>;
}

/**
 * Codec of `EventFormat`.
 *
 * @category Requests
 */
export const EventFormat: t.Type<EventFormat, unknown> = exact<EventFormat>('EventFormat', {
  ...partyFilters,
  verbose: withDefault(flag, false),
});

/**
 * Selects the parties whose hosting changes are included.
 *
 * @inline
 */
interface ParticipantAuthorizationFormat {
  /** The parties; an empty list selects all parties. Default: all. */
  readonly parties?: Opt<readonly Party[]>;
}

/**
 * Selects topology events.
 *
 * @inline
 */
interface TopologyFormat {
  /** Which changes to the hosting of parties to include; absent for none. */
  readonly includeParticipantAuthorizationEvents?: Opt<ParticipantAuthorizationFormat>;
}

const ParticipantAuthorizationFormat = exact<ParticipantAuthorizationFormat>('ParticipantAuthorizationFormat', {
  parties: withDefault(repeated(Party), []),
});

/** Codec of `TopologyFormat`. */
const TopologyFormat: t.Type<TopologyFormat, unknown> = exact<TopologyFormat>('TopologyFormat', {
  includeParticipantAuthorizationEvents: nullable(ParticipantAuthorizationFormat),
});

/**
 * The kind of events in a transaction.
 *
 * - `TRANSACTION_SHAPE_ACS_DELTA`: creations and archivals of contracts on which a requesting party is a stakeholder.
 * - `TRANSACTION_SHAPE_LEDGER_EFFECTS`: creations and exercises of which a requesting party is an informee.
 *
 * @inline
 */
export type TransactionShape = 'TRANSACTION_SHAPE_ACS_DELTA' | 'TRANSACTION_SHAPE_LEDGER_EFFECTS';

/** Codec of `TransactionShape`. */
export const TransactionShape: t.Type<TransactionShape, TransactionShape> = oneOfStrings<TransactionShape>(
  'TransactionShape',
  'TRANSACTION_SHAPE_ACS_DELTA',
  'TRANSACTION_SHAPE_LEDGER_EFFECTS',
);

/**
 * Selects the events of transactions, and their shape.
 *
 * @inline
 */
export interface TransactionFormat {
  /** The parties and contracts to select. */
  readonly eventFormat: EventFormat;
  /** Whether to include changes of active contracts or all effects. */
  readonly transactionShape: TransactionShape;
}

/** Codec of `TransactionFormat`. */
export const TransactionFormat: t.Type<TransactionFormat, unknown> = exact<TransactionFormat>('TransactionFormat', {
  eventFormat: EventFormat,
  transactionShape: TransactionShape,
});

/**
 * Selects updates. {@link acsDelta} and {@link ledgerEffects} build one without the nesting.
 *
 * @category Requests
 */
export interface UpdateFormat {
  /** Which transactions to include; absent for none. */
  readonly includeTransactions?: Opt<TransactionFormat>;
  /** Which reassignments to include; absent for none. */
  readonly includeReassignments?: Opt<EventFormat>;
  /** Which topology transactions to include; absent for none. */
  readonly includeTopologyEvents?: Opt<TopologyFormat>;
}

/**
 * An update format with the shape of {@link ledgerEffects}.
 *
 * @inline
 */
export interface LedgerEffectsFormat extends UpdateFormat {
  /** The transactions, with their exercises in place of archivals. */
  readonly includeTransactions: TransactionFormat & {
    /** All effects. */
    readonly transactionShape: 'TRANSACTION_SHAPE_LEDGER_EFFECTS';
  };
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
