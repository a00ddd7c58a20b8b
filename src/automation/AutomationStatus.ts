import {
  asyncScheduler,
  connect,
  defer,
  endWith,
  ignoreElements,
  interval,
  map,
  merge,
  type Observable,
  takeUntil,
  tap,
  throttleTime,
} from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import { checkPositive } from '../http/retry.js';
import { type RunState, runOf } from './automate.js';
import type { Acted } from './Rule.js';

/**
 * The status of an automation: plain JSON, but for `last`, for a health endpoint.
 *
 * @category Automation
 */
export interface AutomationStatus {
  /** `'standby'` while another process acts, `'starting'` until the store has answered and the contracts are known. */
  readonly role: 'standby' | 'starting' | 'leader';
  /**
   * `'running'` if it acts on what is due. `'stale'` while the contracts are not current, and `'paused'` while the participant
   * is overloaded or lacks traffic: nothing is begun then. `'waiting'` if another process acts. `'disconnected'` while the store
   * cannot be reached: it is not ready then.
   */
  readonly state: 'waiting' | 'running' | 'stale' | 'paused' | 'disconnected';
  /** The number of contracts that are due and not begun. */
  readonly due: number;
  /** The number of decisions and submissions in progress. */
  readonly running: number;
  /** The number of contracts whose time has not come, or whose action is tried again later. */
  readonly waiting: number;
  /** The number of contracts whose last action failed. */
  readonly failed: number;
  /** The last failures, at most ten, newest first. */
  readonly failures: readonly ActionFailure[];
  /** How long the oldest contract has been due, in milliseconds; 0 if none is. */
  readonly lagMs: number;
  /** The number of committed actions since the subscription. */
  readonly committed: number;
  /** The number of actions that another transaction overtook since the subscription. */
  readonly obsolete: number;
  /** The offset of the contracts; absent while they are not known. */
  readonly offset?: Offset;
  /** The last action. */
  readonly last?: Acted;
  /** Why the store cannot be reached. */
  readonly error?: string;
  /** When this status was taken, in milliseconds since the epoch. */
  readonly at: number;
}

/**
 * A failure in a status.
 *
 * @inline
 */
interface ActionFailure {
  /** The contract. */
  readonly contractId: string;
  /** The message of the error. */
  readonly message: string;
  /** When the action is tried again, in milliseconds since the epoch; absent if it is not. */
  readonly retryAt?: number;
}

/**
 * Runs an automation and emits its status: after each action, but at most every `everyMs`, and every `everyMs`. It must be the
 * first operator after `automate`. Completes and fails with the automation.
 *
 * @param options - `everyMs`: the time between two statuses, in milliseconds; default: 1000
 * @throws TypeError for another source than `automate`
 * @example
 * ```ts
 * import { createLedger, exercise } from 'canton-rx';
 * import { automate, type Rule, toAutomationStatus } from 'canton-rx/automation';
 *
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575' });
 * const rule: Rule = {
 *   name: 'archive',
 *   query: { parties: ['alice::1220ab'] },
 *   actAs: ['alice::1220ab'],
 *   act: ({ contractId, templateId }) => ({
 *     ExerciseCommand: { templateId, contractId, choice: 'Archive', choiceArgument: {} },
 *   }),
 * };
 * const watching = automate(ledger, rule)
 *   .pipe(toAutomationStatus())
 *   .subscribe(({ role, due, failed, lagMs }) => {
 *     console.log(role, due, failed, lagMs);
 *   });
 * watching.unsubscribe();
 * ```
 *
 * @category Automation
 */
export function toAutomationStatus({ everyMs = 1_000 }: { readonly everyMs?: number } = {}): (
  acted$: Observable<Acted>,
) => Observable<AutomationStatus> {
  checkPositive({ everyMs });
  return (acted$) => {
    const run = runOf(acted$);
    return defer(() => {
      const state: RunState = {};
      let tally: Tally = { failures: [], committed: 0, obsolete: 0 };
      const counted$ = run(state).pipe(
        tap((acted) => {
          tally = count(tally, acted);
        }),
      );
      return counted$.pipe(
        connect((each$) =>
          merge(
            each$.pipe(throttleTime(everyMs)),
            interval(everyMs).pipe(takeUntil(each$.pipe(ignoreElements(), endWith(true)))),
          ),
        ),
        map(() => ({ ...now(state), ...tally, at: asyncScheduler.now() })),
      );
    });
  };
}

/** What the actions of a run came to. */
type Tally = Pick<AutomationStatus, 'failures' | 'committed' | 'obsolete' | 'last'>;

/** The number of failures in a status. */
const maxFailures = 10;

function count({ failures, committed, obsolete }: Tally, last: Acted): Tally {
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
  message: error instanceof Error ? error.message : String(error),
  ...(retryAt !== undefined && { retryAt }),
});

/** What a status shows of a run. */
function now({ agenda, isStandby = false, storeError }: RunState) {
  const status = agenda?.status() ?? { ...nothing, role: isStandby ? 'standby' : 'starting' };
  return storeError === undefined ? status : ({ ...status, state: 'disconnected', error: storeError.message } as const);
}

/** The status while nothing is done. */
const nothing = { state: 'waiting', due: 0, running: 0, waiting: 0, failed: 0, lagMs: 0 } as const;
