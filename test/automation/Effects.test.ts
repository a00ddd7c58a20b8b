import { describe, expect, it } from '@jest/globals';
import { Entry, type Submission } from '../../src/automation/Entry.js';
import type { Rule } from '../../src/automation/index.js';
import { Effects } from '../../src/automation/Effects.js';
import { noMemory } from '../../src/automation/Memory.js';
import type { Contract } from '../../src/contracts/index.js';
import type { SubmittedTransaction } from '../../src/index.js';
import { exerciseOn, ruleOf } from './support.js';

describe('what a rule knows of its choices', () => {
  const entryOf = (contractId: string) => new Entry({ contractId, reassignmentCounter: 0 } as Contract);
  const submissionOf = (contractId: string) =>
    ({ request: { commands: [exerciseOn(contractId, 'Settle')] } }) as unknown as Submission;
  const transactionOf = (...archived: readonly string[]) =>
    ({
      events: archived.map((contractId) => ({ _tag: 'ArchivedEvent', contractId })),
    }) as unknown as SubmittedTransaction;

  it.each([
    ['has always archived its contract', [true, true], true],
    ['has once not archived it', [true, false, true], false],
    ['has not archived it at first', [false, true, true], false],
    ['is not known', [], false],
  ])('is that a choice archives, if it %s', (_, history, expected) => {
    const effects = new Effects(ruleOf() as unknown as Rule, noMemory);
    for (const isArchived of history)
      effects.learn(entryOf('a'), submissionOf('a'), isArchived ? transactionOf('a') : transactionOf('b'));
    expect(effects.consumes(entryOf('c'), submissionOf('c'))).toBe(expected);
  });

  it('is told the first time only', () => {
    const effects = new Effects(ruleOf() as unknown as Rule, noMemory);
    const learn = () => effects.learn(entryOf('a'), submissionOf('a'), transactionOf('a'));
    expect([learn(), learn()]).toEqual([true, false]);
  });
});
