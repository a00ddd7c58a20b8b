import process from 'node:process';
import { afterAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isLedgerError } from '../../../src/errors/LedgerError.js';
import { partyLists, stakeholderRules } from '../../helpers/partyHistory.js';
import { type ContractsSchedule, contractsSchedule, incidentsEndMs, restoredContracts } from './ContractsSchedule.js';
import { describeError } from './errors.js';
import type { PartiesAudit } from './PartiesAudit.js';
import { type ContractsOutcome, type PartiesPlan, playParties } from './playContracts.js';
import { campaignRuns, formatCounts, increase } from './runs.js';

const hours = 3_600_000;
const counts = new Map<string, number>();
afterAll(() => {
  process.stdout.write(`campaign: parties ${formatCounts(counts)}\n`);
});

const atMs = fc.oneof(fc.nat(3_000), fc.nat(incidentsEndMs));

const partiesPlan: fc.Arbitrary<PartiesPlan> = fc.record({
  stakeholdersOf: stakeholderRules,
  first: partyLists,
  lists: fc.array(fc.record({ atMs, parties: partyLists }), { maxLength: 8, size: 'max' }),
});

/** Plays schedules, and expects no flaw in any of them. */
function campaign(full: number, schedules: fc.Arbitrary<ContractsSchedule>): void {
  const { seed, numRuns, endOnFailure } = campaignRuns(Math.ceil(full / 50), full);
  fc.assert(
    fc.property(schedules, partiesPlan, (schedule, plan) => {
      const outcome = playParties(schedule, plan);
      count(outcome);
      expect([...outcome.audit.flaws, ...flawsOfEnd(outcome)]).toEqual([]);
    }),
    // hardly one in a thousand is left out; more would prove nothing
    { seed, numRuns, endOnFailure, maxSkipsPerRun: 0.01 + 2 / numRuns },
  );
}

/** What is wrong when all is over: every fault passes, so that the last contracts are those of the last list. */
function flawsOfEnd({ schedule, seen, audit, end, open }: ContractsOutcome<PartiesAudit>): readonly string[] {
  const { error } = seen;
  if (open > 0) return [`${open} requests are open`];
  // lists without tokens are too long, or a slow one is late twice
  if (isLedgerError(error, 'SnapshotLimitError') && !schedule.hasSocket) return [];
  if (error !== undefined) return [`ends with ${describeError(error)}`];
  if (schedule.restore !== null && (audit.offset ?? 0) > end) return [];
  return audit.isOfLast() ? [] : ['the last contracts are not those of the last list'];
}

function count({ audit, seen, diagnostics, requests }: ContractsOutcome<PartiesAudit>): void {
  increase(counts, 'schedules');
  increase(counts, 'requests', requests);
  increase(counts, 'changes', audit.changes);
  increase(counts, 'changes of the selection', audit.selections);
  for (const reason of audit.resets) increase(counts, `reset by ${reason}`);
  if (isLedgerError(seen.error)) increase(counts, seen.error._tag);
  for (const { _tag } of diagnostics) increase(counts, _tag);
}

describe('the contracts after each change are exactly those that the selected parties see', () => {
  it(
    'while parties come and go, through every fault, release, transport and pruning (G82)',
    () => {
      campaign(2_000, contractsSchedule);
    },
    hours,
  );

  it(
    'and after the restore of an older backup',
    () => {
      campaign(500, restoredContracts);
    },
    hours,
  );
});
