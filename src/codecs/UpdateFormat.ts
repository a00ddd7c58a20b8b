import type * as t from 'io-ts';
import { EventFormat } from './EventFormat.js';
import { exact } from './internal/exact.js';
import { nullable } from './internal/nullable.js';
import type { Opt } from './Opt.js';
import { TopologyFormat } from './TopologyFormat.js';
import { TransactionFormat } from './TransactionFormat.js';

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
