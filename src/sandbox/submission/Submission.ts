import type { TemplateRef } from '../wire/events.js';
import type { WireTraceContext } from '../wire/WireUpdate.js';

/** The content of a prepared transaction. Times are in microseconds since the epoch. */
export interface PreparedSubmission {
  readonly commandId: string;
  readonly party: string;
  readonly synchronizerId: string;
  readonly preparationTime: number;
  readonly minLedgerTime: number | undefined;
  readonly maxRecordTime: number | undefined;
  readonly effect: Effect;
}

/** What a command does to the ledger. */
export type Effect = Creation | Exercised;

/** A contract is created. */
export interface Creation {
  readonly kind: 'create';
  /** The contract id without the suffix that the commit adds. */
  readonly contractId: string;
  readonly template: TemplateRef;
  readonly createArgument: unknown;
  readonly signatories: readonly string[];
  readonly observers: readonly string[];
}

/** A choice is exercised. */
export interface Exercised {
  readonly kind: 'exercise';
  readonly contractId: string;
  readonly choice: string;
  readonly choiceArgument: unknown;
  readonly isConsuming: boolean;
  /** The result. If the choice creates a contract, it is the id of that contract. */
  readonly result: unknown;
  readonly creation: Creation | undefined;
}

/** A submission that has been interpreted and routed: what the participant registers, and then commits or rejects. */
export interface Submission extends SubmissionIds {
  readonly workflowId: string;
  readonly synchronizerId: string;
  readonly effects: readonly Effect[];
  readonly period: DeduplicationPeriod;
  /** In microseconds since the epoch. */
  readonly minLedgerTime: number | undefined;
  /** The number of bytes, which determine the traffic cost. */
  readonly size: number;
  /** The hash of a prepared transaction. */
  readonly hash?: Buffer;
}

/** What a completion shows of its submission. */
export interface SubmissionIds {
  readonly commandId: string;
  readonly userId: string;
  readonly submissionId: string;
  readonly actAs: readonly string[];
  readonly trace: Trace;
}

/** The trace of a request: from its headers, or a new one. */
export interface Trace {
  readonly id: string;
  readonly context: WireTraceContext | null;
}

/** How far back an earlier commit of the same change counts. */
export type DeduplicationPeriod =
  | { readonly afterOffset: number }
  /** The participant keeps what its default period needs, so only a requested duration can reach into pruned data. */
  | { readonly ms: number; readonly isDefault: boolean };

/** Identifies a change: by its user, the set of its acting parties, and its command id. */
export const changeIdOf = ({ userId, actAs, commandId }: SubmissionIds): string =>
  JSON.stringify([userId, [...new Set(actAs)].sort(), commandId]);

/** The period in a completion. Participants report durations as offsets, too. */
export const reportedOffset = (period: DeduplicationPeriod): number =>
  'afterOffset' in period ? period.afterOffset : 0;
