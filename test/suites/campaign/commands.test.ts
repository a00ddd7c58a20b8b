import process from 'node:process';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { schedule } from './commandsSchedule.js';
import { findFlaws, nameOf, whyUnknown } from './commandsLaw.js';
import { play } from './playCommands.js';
import { campaignRuns, formatCounts, increase } from './runs.js';

const { numRuns, seed, isMany, endOnFailure } = campaignRuns(60, 5_000);

describe('a submission, signed or of a hosted party', () => {
  it('is committed at most once, also if a rule or an outbox submits it, and its outcome is that of the ledger or named (G59)', () => {
    const ends = new Map<string, number>();
    const open = new Map<string, number>();
    const said = new Map<string, number>();
    fc.assert(
      fc.property(schedule, (plan) => {
        const played = play(plan);
        expect(findFlaws(played)).toEqual([]);
        for (const lived of played.lives) {
          const by = plan.isSigned ? 'signed' : 'hosted';
          increase(ends, `${plan.worker ?? by} ${nameOf(lived)}`);
          for (const { kind } of lived.said) increase(said, `${String(plan.worker)} ${kind}`);
          const why = whyUnknown(played, lived);
          if (why !== undefined) increase(open, why);
        }
      }),
      { numRuns, seed, endOnFailure },
    );
    process.stdout.write(
      `campaign: commands: ${formatCounts(ends)}; unknown: ${formatCounts(open)}; said by workers: ${formatCounts(said)}\n`,
    );
    if (!isMany) return;
    const callers = ['committed', 'repeated', 'SubmissionRejectedError', 'OutcomeUnknownError', 'NotSentError'];
    for (const end of callers)
      for (const kind of ['signed', 'hosted']) expect([...ends.keys()]).toContain(`${kind} ${end}`);
    for (const worker of ['rule', 'outbox']) {
      for (const end of ['committed', 'repeated', 'unsubscribed'])
        expect([...ends.keys()]).toContain(`${worker} ${end}`);
      for (const kind of ['committed', 'refused', 'unknown']) expect([...said.keys()]).toContain(`${worker} ${kind}`);
    }
  });
});
