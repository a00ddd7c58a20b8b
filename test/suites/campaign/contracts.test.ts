import process from 'node:process';
import { afterAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isLedgerError } from '../../../src/errors/LedgerError.js';
import { entriesAt } from '../../helpers/contractHistory.js';
import { type ContractsSchedule, contractsSchedule, type Incident, restoredContracts } from './ContractsSchedule.js';
import { type ContractsOutcome, playContracts } from './playContracts.js';
import { describeError } from './errors.js';
import { campaignRuns, formatCounts, increase } from './runs.js';

const hours = 3_600_000;
const counts = new Map<string, number>();
afterAll(() => {
  process.stdout.write(`campaign: contracts ${formatCounts(counts)}\n`);
});

/** Plays schedules, and expects no flaw in any of them. */
function campaign(full: number, schedules: fc.Arbitrary<ContractsSchedule>): void {
  const { seed, numRuns, endOnFailure } = campaignRuns(Math.ceil(full / 50), full);
  fc.assert(
    fc.property(schedules, (schedule) => {
      const outcome = playContracts(schedule);
      count(outcome);
      expect([...outcome.audit.flaws, ...flawsOfEnd(outcome)]).toEqual([]);
    }),
    // hardly one in a thousand is left out; more would prove nothing
    { seed, numRuns, endOnFailure, maxSkipsPerRun: 0.01 + 2 / numRuns },
  );
}

/** What is wrong when all is over: every fault passes, so that the last state is that of the last update. */
function flawsOfEnd(outcome: ContractsOutcome): readonly string[] {
  const { seen, audit, end, open } = outcome;
  const { error } = seen;
  if (open > 0) return [`${open} requests are open`];
  if (error !== undefined) return isExpected(error, outcome) ? [] : [`ends with ${describeError(error)}`];
  return audit.offset === end || isWaitedFor(outcome) ? [] : [`has come to ${audit.offset} of ${end}`];
}

/** Whether a participant that was restored ends before the position, which may be that of a snapshot: without a last update. */
const isWaitedFor = ({ schedule, audit, end }: ContractsOutcome): boolean =>
  schedule.restore !== null && (audit.offset ?? 0) > end;

/**
 * Before 3.5, a snapshot over HTTP is one list. It cannot be read if it is longer than the participant sends, or if it is
 * late twice.
 */
const isExpected = (error: unknown, { schedule, slowLists }: ContractsOutcome): boolean =>
  isLedgerError(error, 'SnapshotLimitError') &&
  !schedule.hasSocket &&
  (schedule.release === '3.4' || schedule.incidents.some(isRelease34)) &&
  (entriesAt(schedule.history, error.activeAtOffset).length > schedule.maxListElements || slowLists > 1);

const isRelease34 = (incident: Incident): boolean => incident.kind === 'release' && incident.release === '3.4';

function count({ audit, seen, diagnostics, requests }: ContractsOutcome): void {
  increase(counts, 'schedules');
  increase(counts, 'requests', requests);
  increase(counts, 'changes', audit.changes);
  for (const reason of audit.resets) increase(counts, `reset by ${reason}`);
  if (isLedgerError(seen.error)) increase(counts, seen.error._tag);
  for (const { _tag } of diagnostics) increase(counts, _tag);
}

describe('the contracts after each change are exactly those of the ledger', () => {
  it(
    'through every fault, release, transport and pruning (G28)',
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
