import { asyncScheduler, type Observable } from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import { textOf } from '../errors/textOf.js';
import type { WorkCounts } from '../diagnostics/SubmissionDiagnostic.js';
import { noWork } from '../dispatch/dispatch.js';
import type { Agenda } from './Agenda.js';
import type { StoreState } from './whileElected.js';
import type { Acted } from './Rule.js';

/**
 * The status of an automation: plain JSON, but for `last`, for a health endpoint. `waiting` counts the contracts whose time has not
 * come, or whose action is tried again later; `parked` those whose action this run does not try again in the same round.
 *
 * @category Automation
 */
export interface AutomationStatus extends WorkCounts {
  /** The name of the rule. */
  readonly rule: string;
  /**
   * `'standby'` while another process acts, `'starting'` until the store has answered and the contracts are known, and unless the
   * rule is subscribed to.
   */
  readonly role: 'standby' | 'starting' | 'leader';
  /**
   * `'running'` if it acts on what is due. `'stale'` while the contracts are not current, and `'paused'` while the participant
   * is overloaded or lacks traffic: nothing is begun then. `'waiting'` if another process acts. `'disconnected'` while the store
   * cannot be reached: it is not ready then. `'ended'` after it has completed, failed or was unsubscribed.
   */
  readonly state: 'waiting' | 'running' | 'stale' | 'paused' | 'disconnected' | 'ended';
  /** The number of contracts whose last action failed. */
  readonly failed: number;
  /** The last failures, at most ten, newest first. */
  readonly failures: readonly ActionFailure[];
  /** The number of committed actions since the subscription. */
  readonly committed: number;
  /** The number of actions that another transaction overtook since the subscription. */
  readonly obsolete: number;
  /** The offset of the contracts; absent while they are not known. */
  readonly offset?: Offset;
  /** The last action. */
  readonly last?: Acted;
  /** Why the store cannot be reached, or why the rule ended if it failed. */
  readonly error?: string;
  /** When this status was taken, in milliseconds since the epoch. */
  readonly at: number;
}

/**
 * A failure in a status.
 *
 * @category Automation
 */
export interface ActionFailure {
  /** The contract. */
  readonly contractId: string;
  /** The message of the error. */
  readonly message: string;
  /** When the action is tried again, in milliseconds since the epoch; absent if it is not. */
  readonly retryAt?: number;
}

/**
 * What {@link automate} returns: the outcomes of the actions, and the status of the rule.
 *
 * @category Automation
 */
export interface Automation extends Observable<Acted> {
  /**
   * Emits the status now, every second, and when the rule begins and ends. Subscribing to it does not act. It neither
   * completes nor fails: after the rule has ended, the state is `'ended'`.
   */
  readonly status$: Observable<AutomationStatus>;

  /**
   * Stops the present run: it begins nothing, finishes what is in flight, and completes. It takes at most `stopWithinMs`. Has no
   * effect unless the rule runs.
   */
  readonly stop: () => void;
}

/** What a run shows of itself. */
export interface RunState extends StoreState {
  /** Present while it acts. */
  agenda?: Agenda | undefined;
  tally: Tally;
}

/** What the actions of a run came to. */
type Tally = Pick<AutomationStatus, 'failures' | 'committed' | 'obsolete' | 'last'>;

/** The tally before the first action. */
export const noTally: Tally = { failures: [], committed: 0, obsolete: 0 };

/** The number of failures in a status. */
const maxFailures = 10;

export function tallyOf({ failures, committed, obsolete }: Tally, last: Acted): Tally {
  // an older failure of the same contract is out of date
  const others = failures.filter(({ contractId }) => contractId !== last.contractId);
  return {
    failures: last._tag === 'Failed' ? [toFailure(last), ...others].slice(0, maxFailures) : others,
    committed: committed + (last._tag === 'Committed' ? 1 : 0),
    obsolete: obsolete + (last._tag === 'Obsolete' ? 1 : 0),
    last,
  };
}

const toFailure = ({ contractId, error, retryAt }: Extract<Acted, { _tag: 'Failed' }>): ActionFailure => ({
  contractId,
  message: textOf(error),
  ...(retryAt !== undefined && { retryAt }),
});

/** The present status of a rule. */
export function statusOf(rule: string, { agenda, isStandby = false, storeError, tally }: RunState): AutomationStatus {
  const status = agenda?.status() ?? {
    ...noWork,
    role: isStandby ? 'standby' : 'starting',
    state: 'waiting',
    failed: 0,
  };
  const lost = storeError && ({ state: 'disconnected', error: storeError.message } as const);
  return { rule, ...status, ...tally, ...lost, at: asyncScheduler.now() };
}
