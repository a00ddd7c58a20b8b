import { asyncScheduler, delay, NEVER, of, throwError } from 'rxjs';
import { type Acted, automate } from '../../../src/automation/index.js';
import type { Command } from '../../../src/index.js';
import { memoryStore } from '../../../src/process/memoryStore.js';
import { createReceipt, exerciseOn, receiptOf, ruleOf, type TaskRule } from '../../automation/support.js';
import { observe, type Observed } from '../../helpers/observe.js';
import { VirtualTasks } from '../../helpers/virtualTasks.js';
import { later, runVirtually } from '../../helpers/virtualTime.js';
import type { AutomationSchedule, IncidentPlan } from './AutomationSchedule.js';
import { randomFrom } from './runs.js';

/** When everything is over, in milliseconds: the outcomes of the last submissions are known some minutes after the last incident. */
export const endMs = 900_000;

/** The second round begins, in milliseconds. */
export const secondRoundMs = 60_000;

/** What came of a schedule. */
export interface AutomationOutcome {
  readonly schedule: AutomationSchedule;
  readonly tasks: VirtualTasks;
  readonly runs: readonly Observed<Acted>[];
  /** The contracts at the end: their ids, their plan, and the offset of their creation. */
  readonly contracts: ReadonlyMap<string, ContractFate>;
  readonly open: number;
}

/** What is known of a contract. */
export interface ContractFate {
  readonly plan: AutomationSchedule['contracts'][number];
  readonly era: number;
  readonly createdAt: number;
  /** The pruned offset at the end. */
  readonly isPruned: () => boolean;
}

/** Plays a schedule in virtual time. */
export function playAutomation(schedule: AutomationSchedule): AutomationOutcome {
  const { seed, latencyMs, commitMs, contracts, faults, incidents } = schedule;
  const tasks = new VirtualTasks({ latencyMs, commitMs });
  tasks.faultOf = () => faults[tasks.attempts.length - 1] ?? undefined;
  const fates = new Map<string, ContractFate>();
  const runs: Observed<Acted>[] = [];
  let era = 0;
  const isReplaced = incidents.some(({ kind }) => kind === 'replace');
  const store = schedule.rule.hasStore && !isReplaced ? memoryStore() : undefined;
  const stops: AbortController[] = [];
  const start = (): void => {
    const stop = new AbortController();
    stops.push(stop);
    const { concurrency } = schedule.rule;
    const retry = { baseDelayMs: 200, maxDelayMs: 5_000 };
    const options = { concurrency, store, retry, actTimeoutMs: 2_000, signal: stop.signal };
    runs.push(observe(automate(tasks.connect(), ruleFor(schedule, fates), options)));
  };
  const isRunning = ({ completed, error, subscription }: Observed<unknown>): boolean =>
    !completed && error === undefined && !subscription.closed;
  const idOf = (index: number): string => `c${era}${index % contracts.length}`;
  const create = (index: number): void => {
    const plan = contracts[index];
    if (plan === undefined) return;
    const contractId = idOf(index);
    const createdAt = tasks.end + 1;
    fates.set(contractId, { plan, era, createdAt, isPruned: () => tasks.participant.ledger.pruned >= createdAt });
    tasks.create(contractId);
  };
  const apply = ({ kind, index, forMs }: IncidentPlan): void => {
    const contractId = idOf(index);
    const last = runs.findLast(isRunning);
    switch (kind) {
      case 'archive':
        if (fates.has(contractId)) tasks.archive(contractId);
        break;
      case 'move':
        tasks.unassign(contractId);
        later(forMs, () => {
          tasks.assign(contractId);
        });
        break;
      case 'prune':
        tasks.prune();
        break;
      case 'down':
        tasks.goDown(forMs);
        break;
      case 'crash':
        last?.subscription.unsubscribe();
        later(forMs, start);
        break;
      case 'second':
        start();
        break;
      case 'stop':
        stops.at(-1)?.abort();
        later(forMs, start);
        break;
      case 'replace':
        era += 1;
        tasks.replace();
        for (const index of contracts.keys()) create(index);
    }
  };
  const { random } = Math;
  Math.random = randomFrom(seed);
  try {
    runVirtually(() => {
      for (const [index, { atMs }] of contracts.entries())
        if (atMs === 0) create(index);
        else
          later(atMs, () => {
            if (era === 0) create(index);
          });
      for (const incident of incidents)
        later(incident.atMs, () => {
          apply(incident);
        });
      start();
      later(endMs, () => {
        for (const { subscription } of runs) subscription.unsubscribe();
      });
    });
  } finally {
    Math.random = random;
  }
  return { schedule, tasks, runs, contracts: fates, open: tasks.service.open };
}

/** The rule of a schedule. What it counts is lost with its process. */
function ruleFor({ rule: plan }: AutomationSchedule, fates: ReadonlyMap<string, ContractFate>): TaskRule {
  const { action, saysConsumes, hasDone, hasRounds, decidesMs } = plan;
  const decisions = new Map<string, number>();
  const commandFor = (contractId: string): Command => {
    if (action === 'receipt') return createReceipt(contractId);
    return exerciseOn(contractId, { archive: 'Archive', accept: 'Accept', touch: 'Touch' }[action]);
  };
  return ruleOf({
    ...(saysConsumes && isConsuming(plan) && { consumes: true }),
    where: ({ type, contractId }) => type === 'marble' && fates.get(contractId)?.plan.isSelected === true,
    dueAt: ({ contractId }) => {
      const { dueMs = 0 } = fates.get(contractId)?.plan ?? {};
      return dueMs === 'never' ? undefined : new Date(dueMs);
    },
    ...(hasRounds && { round: () => (asyncScheduler.now() < secondRoundMs ? 'one' : 'two') }),
    ...(hasShownEffect(plan) &&
      hasDone && { done: ({ contractId }, contracts) => contracts.has(receiptOf(contractId)) }),
    act: ({ contractId }) => {
      const count = (decisions.get(contractId) ?? 0) + 1;
      decisions.set(contractId, count);
      const { badDecisions = 0, how } = fates.get(contractId)?.plan ?? {};
      if (count > badDecisions) {
        const command = commandFor(contractId);
        return decidesMs === 0 ? command : of(command).pipe(delay(decidesMs));
      }
      switch (how) {
        case 'hangs':
          return NEVER;
        case 'rejects':
          return throwError(() => new Error('rejects'));
        case 'rubbish':
          return 7 as never;
        default:
          throw new Error('throws');
      }
    },
  });
}

export const isConsuming = ({ action }: AutomationSchedule['rule']): boolean =>
  action === 'archive' || action === 'accept';

/** Whether the contracts show that an action was done. */
export const hasShownEffect = ({ action, hasRounds }: AutomationSchedule['rule']): boolean =>
  action === 'receipt' && !hasRounds;
