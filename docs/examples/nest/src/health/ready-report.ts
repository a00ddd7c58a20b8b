import { isReady, type ProcessStatus } from 'canton-rx/process';

/** What the projection is known to be, now. */
export interface ReadyReport {
  /** `ledgerUnseen` while the ledger end has not been read lately: whether the projection has caught up is unknown then. */
  readonly state: 'starting' | 'standby' | 'catchingUp' | 'caughtUp' | 'ledgerUnseen' | 'stopping';
  /** The offset up to which everything is in the tables; for a standby, when it began to wait. */
  readonly offset: number | null;
  /** `null` while it is unknown, as the lag is. */
  readonly ledgerEnd: number | null;
  readonly lagOffsets: number | null;
  /** When the ledger end was read last. */
  readonly seenAt: string | null;
  readonly updatesPerSecond: number | null;
}

/** The age of a recent reading of the ledger end, in milliseconds: there is one every two seconds. */
const recentMs = 4_000;

/** When a projection is ready, in milliseconds. */
export interface ReadyLimits {
  /** How long the ledger end may not have been read. */
  readonly unseenMs: number;
  /** How long the projection may have lagged. */
  readonly behindMs: number;
}

/** Before the first status, and after the last one, nothing is known. */
export const unknownReport = (state: 'starting' | 'stopping'): ReadyReport => ({
  state,
  offset: null,
  ledgerEnd: null,
  lagOffsets: null,
  seenAt: null,
  updatesPerSecond: null,
});

/** Whether the projection is ready, and what is known of it. */
export function readyReport(
  status: ProcessStatus,
  { unseenMs, behindMs }: ReadyLimits,
): { readonly isUp: boolean; readonly report: ReadyReport } {
  const { role, seenAt = 0, offset = null, ledgerEnd = null, lagOffsets = null, updatesPerSecond } = status;
  const ageMs = Date.now() - seenAt;
  const isUp = isReady(status, { maxAgeMs: unseenMs, maxBehindMs: behindMs });
  // the status keeps the last reading, which says nothing about now when the next one has failed or is overdue. Only a
  // leader has a lag
  const isSeen = ageMs <= recentMs && (role !== 'leader' || lagOffsets !== null);
  const report = {
    state: isSeen ? stateOf(status, isUp) : 'ledgerUnseen',
    offset,
    ledgerEnd: isSeen ? ledgerEnd : null,
    lagOffsets: isSeen ? lagOffsets : null,
    seenAt: seenAt === 0 ? null : new Date(seenAt).toISOString(),
    updatesPerSecond,
  } as const;
  return { isUp, report };
}

/** A leader that had caught up, and has fallen behind since, catches up again. */
const stateOf = ({ role, state }: ProcessStatus, isUp: boolean): ReadyReport['state'] => {
  if (role !== 'leader') return role;
  return state === 'caughtUp' && isUp ? 'caughtUp' : 'catchingUp';
};
