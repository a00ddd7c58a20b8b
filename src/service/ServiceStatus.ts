import type { WorkCounts } from '../diagnostics/SubmissionDiagnostic.js';
import type { ProcessorRole } from '../diagnostics/ProcessDiagnostic.js';
import { type ProcessStatus, type ReadyOptions, whyNotReady } from '../process/ProcessStatus.js';

/**
 * The status of a rule or an outbox, as far as a service reads it.
 *
 * @category Service
 */
export interface WorkStatus extends WorkCounts {
  /** The name of the rule, for a rule. */
  readonly rule?: string;
  /** The name of the outbox, for an outbox. */
  readonly outbox?: string;
  /** Whether this process does the work. */
  readonly role: ProcessorRole;
  /** What it does now. */
  readonly state: 'waiting' | 'running' | 'stale' | 'paused' | 'disconnected' | 'ended';
  /** Why it is disconnected or has ended, if it failed. */
  readonly error?: string;
}

/**
 * The status of a part of a service, with whether it is ready.
 *
 * @category Service
 */
export type PartStatus<S> = S & {
  /** Whether this part does its work, or stands by to do it. */
  readonly isReady: boolean;
  /** Why it is not ready: a sentence for a log; absent if it is. */
  readonly notReady?: string;
};

/**
 * The status of a service: plain JSON.
 *
 * @category Service
 */
export interface ServiceStatus {
  /** `'stopping'` after a signal, or after a part has failed with `onFailure: 'stop'`. */
  readonly state: 'running' | 'stopping';
  /** Whether every part is ready, and the service does not stop. */
  readonly isReady: boolean;
  /** Why it stops. */
  readonly reason?: string;
  /** The address of its server, such as `http://127.0.0.1:8080`; absent without `port`. */
  readonly url?: string;
  /** The processors, in the given order. */
  readonly processors: readonly PartStatus<ProcessStatus>[];
  /** The rules, in the given order. */
  readonly rules: readonly PartStatus<WorkStatus>[];
  /** The outboxes, in the given order. */
  readonly outboxes: readonly PartStatus<WorkStatus>[];
}

/** The present statuses of the parts. */
export interface Parts {
  readonly processors: readonly ProcessStatus[];
  readonly rules: readonly WorkStatus[];
  readonly outboxes: readonly WorkStatus[];
}

/** Why a service stops, and where its server is. */
export type ServiceState = Pick<ServiceStatus, 'reason' | 'url'>;

/** Returns the status of a service from those of its parts. */
export function toServiceStatus(
  { processors, rules, outboxes }: Parts,
  { reason, url }: ServiceState,
  ready: ReadyOptions,
): ServiceStatus {
  const parts = {
    processors: processors.map((status) => withReason(status, isDone(status) ? undefined : whyNotReady(status, ready))),
    rules: rules.map((status) => withReason(plain(status), whyIdle(status))),
    outboxes: outboxes.map((status) => withReason(plain(status), whyIdle(status))),
  };
  const isStopping = reason !== undefined;
  return {
    state: isStopping ? 'stopping' : 'running',
    isReady: !isStopping && Object.values(parts).every((some) => some.every((part) => part.isReady)),
    ...(reason !== undefined && { reason }),
    ...(url !== undefined && { url }),
    ...parts,
  };
}

const withReason = <S>(status: S, notReady: string | undefined): PartStatus<S> => ({
  ...status,
  isReady: notReady === undefined,
  ...(notReady !== undefined && { notReady }),
});

/** Work that waits for its contracts at the start, or has lost its store, is not ready. A standby is. */
function whyIdle(status: WorkStatus): string | undefined {
  if (isDone(status)) return undefined;
  if (status.state === 'ended') return 'it has failed';
  if (status.state === 'disconnected') return 'its store cannot be reached';
  return status.role === 'starting' ? 'it starts: its contracts or its store are not known' : undefined;
}

/** Whether a part has completed without an error: a processor of a feed that has an end, or a part that was stopped. */
const isDone = ({ state, error }: { readonly state: string; readonly error?: string }): boolean =>
  state === 'ended' && error === undefined;

/** Leaves out the last action of a rule, which has a transaction: the status of a service is JSON. */
function plain(status: WorkStatus & { readonly last?: unknown }): WorkStatus {
  const { last, ...rest } = status;
  return last === undefined ? status : rest;
}
