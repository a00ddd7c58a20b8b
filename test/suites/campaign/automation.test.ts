import process from 'node:process';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isRuleError } from '../../../src/automation/index.js';
import { isLedgerError } from '../../../src/index.js';
import { receiptOf } from '../../automation/support.js';
import { automationSchedule, type AutomationSchedule, incidentsEndMs } from './AutomationSchedule.js';
import {
  type AutomationOutcome,
  type ContractFate,
  endMs,
  hasShownEffect,
  isConsuming,
  playAutomation,
  secondRoundMs,
} from './playAutomation.js';
import { describeError } from './errors.js';
import { campaignRuns, formatCounts, increase } from './runs.js';

const { numRuns, seed, isMany, endOnFailure } = campaignRuns(60, 3_000);

/** From when on all is over, in milliseconds. */
const quietMs = endMs - 200_000;

const counts = new Map<string, number>();

/** All that is wrong with an outcome. */
function flawsOf(outcome: AutomationOutcome): readonly string[] {
  const { tasks, runs, contracts, open } = outcome;
  return [
    ...(open > 0 ? [`${open} requests are open`] : []),
    ...runs.flatMap(({ error }) => (error === undefined ? [] : [`a run failed: ${describeError(error)}`])),
    ...flawsOfCommits(outcome),
    ...flawsOfRequests(outcome),
    ...(runs.some(isLast) ? [...contracts].flatMap(([id, fate]) => flawsOfEnd(outcome, id, fate)) : []),
    ...tasks.attempts.flatMap((attempt) => (attempt.commands.length === 1 ? [] : ['other commands'])),
  ];
}

/** Whether a run was there until everything was over. */
const isLast = ({ completed, endedAt }: AutomationOutcome['runs'][number]): boolean =>
  !completed && endedAt === undefined;

/** A commit for each contract and round at most, and only for contracts that were selected and due. */
function flawsOfCommits({ tasks, contracts, schedule }: AutomationOutcome): readonly string[] {
  const replacedMs = schedule.incidents.find(({ kind }) => kind === 'replace')?.atMs ?? Infinity;
  const seen = new Set<string>();
  return tasks.commits.flatMap(({ commandId, era, atMs }) => {
    const fate = contracts.get(contractOf(commandId));
    const sentMs = tasks.attempts.findLast((attempt) => attempt.commandId === commandId)?.atMs ?? 0;
    const flaws = [
      ...(seen.has(commandId) ? [`${commandId} was committed twice`] : []),
      // what is being sent when the ledger is replaced, and does not use its contract, may be committed, also later
      ...(fate?.era !== era && sentMs > replacedMs + noticedMs ? [`${commandId} belongs to another ledger`] : []),
      ...(fate?.plan.isSelected === true && isDue(fate, atMs) ? [] : [`${commandId} was not due`]),
    ];
    seen.add(commandId);
    return flaws;
  });
}

/** How long it may take until a view notices that its ledger was replaced, in milliseconds. */
const noticedMs = 5_000;

const contractOf = (commandId: string): string => commandId.split(':')[1] ?? '';

const isDue = ({ plan: { dueMs = 0 } }: ContractFate, atMs: number): boolean => dueMs !== 'never' && dueMs <= atMs;

/** Each contract that is due is gone or acted on, unless the participant has pruned what would show whether it was. */
function flawsOfEnd(
  { tasks, schedule, runs }: AutomationOutcome,
  contractId: string,
  fate: ContractFate,
): readonly string[] {
  const { rule } = schedule;
  if (!fate.plan.isSelected || !isDue(fate, endMs) || !tasks.isActive(contractId)) return [];
  const commandId = `rule:${contractId}${rule.hasRounds ? ':two' : ''}`;
  if (tasks.commits.some((commit) => commit.commandId === commandId)) return [];
  if (hasShownEffect(rule) && rule.hasDone && tasks.isActive(receiptOf(contractId))) return [];
  const errors = runs.flatMap(({ values }) =>
    values.flatMap((acted) => (acted._tag === 'Failed' && acted.contractId === contractId ? [acted.error] : [])),
  );
  const isLost = errors.some(
    (error) =>
      (isRuleError(error) && error.reason === 'pruned') ||
      (isLedgerError(error, 'OutcomeUnknownError') && isLedgerError(error.lastError, 'PrunedError')),
  );
  if (!isLost || !fate.isPruned() || isProven(schedule))
    return [`${commandId} is forgotten: ${errors.map(describeError).join()}`];
  increase(counts, 'not acted on because of pruning');
  return [];
}

/** Whether an action is taken even if the participant is pruned: the contracts show all that is needed. */
const isProven = ({ rule }: AutomationSchedule): boolean =>
  rule.action === 'archive' || (isConsuming(rule) && rule.saysConsumes) || (hasShownEffect(rule) && rule.hasDone);

/** Requests are bounded, and there are none when all is done. */
function flawsOfRequests({ tasks, schedule, runs }: AutomationOutcome): readonly string[] {
  const perCommand = new Map<string, number>();
  for (const { commandId } of tasks.attempts) increase(perCommand, commandId);
  // several tries for each fault and each incident, which may concern any of them
  const bound = 20 * runs.length + 8 * (schedule.faults.length + schedule.incidents.length);
  return [
    ...[...perCommand].flatMap(([id, count]) => (count > bound ? [`${id} was sent ${count} times of ${bound}`] : [])),
    ...tasks.attempts.flatMap(({ atMs, commandId }) => (atMs > quietMs ? [`${commandId} was sent at ${atMs}`] : [])),
  ];
}

function count({ tasks, runs, schedule }: AutomationOutcome): void {
  increase(counts, 'schedules');
  increase(counts, 'runs', runs.length);
  increase(counts, 'requests', tasks.attempts.length);
  increase(counts, 'commits', tasks.commits.length);
  for (const { kind } of schedule.incidents) increase(counts, kind);
  for (const acted of runs.flatMap(({ values }) => values))
    increase(counts, acted._tag === 'Failed' ? kindOf(acted.error) : acted._tag);
}

function kindOf(error: unknown): string {
  if (isRuleError(error)) return `RuleError ${error.reason}`;
  return error instanceof Error ? error.name : 'other';
}

describe('an automation', () => {
  it('commits once for each contract and round, and forgets none that is due (G63)', () => {
    expect(secondRoundMs).toBeLessThan(incidentsEndMs);
    fc.assert(
      fc.property(automationSchedule, (schedule) => {
        const outcome = playAutomation(schedule);
        count(outcome);
        expect(flawsOf(outcome)).toEqual([]);
      }),
      { numRuns, seed, endOnFailure },
    );
    process.stdout.write(`campaign: automation: ${formatCounts(counts)}\n`);
    for (const kind of isMany ? ['Committed', 'Obsolete', 'RuleError pruned', 'SubmissionRejectedError'] : [])
      expect([kind, counts.get(kind)]).not.toEqual([kind, undefined]);
  }, 3_600_000);
});
