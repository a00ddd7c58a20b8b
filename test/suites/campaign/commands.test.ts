import process from 'node:process';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { schedule } from './commandsSchedule.js';
import { findFlaws, nameOf, whyUnknown } from './commandsLaw.js';
import { play } from './playCommands.js';
import { campaignRuns, formatCounts, increase } from './runs.js';

const { numRuns, seed, isMany, endOnFailure } = campaignRuns(60, 5_000);

describe('a submission, signed or of a hosted party', () => {
  it('is committed at most once, and its outcome is that of the ledger or named (G59)', () => {
    const ends = new Map<string, number>();
    const open = new Map<string, number>();
    fc.assert(
      fc.property(schedule, (plan) => {
        const played = play(plan);
        expect(findFlaws(played)).toEqual([]);
        for (const lived of played.lives) {
          increase(ends, `${plan.isSigned ? 'signed' : 'hosted'} ${nameOf(lived)}`);
          const why = whyUnknown(played, lived);
          if (why !== undefined) increase(open, why);
        }
      }),
      { numRuns, seed, endOnFailure },
    );
    process.stdout.write(`campaign: commands: ${formatCounts(ends)}; unknown: ${formatCounts(open)}\n`);
    for (const end of isMany
      ? ['committed', 'repeated', 'SubmissionRejectedError', 'OutcomeUnknownError', 'NotSentError']
      : [])
      for (const kind of ['signed', 'hosted']) {
        const name = `${kind} ${end}`;
        expect([name, ends.get(name)]).not.toEqual([name, undefined]);
      }
  });
});
