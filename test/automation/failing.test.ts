import { describe, expect, it } from '@jest/globals';
import { EMPTY, NEVER, of, throwError } from 'rxjs';
import { type Acted, isRuleError } from '../../src/automation/index.js';
import type { Observed } from '../helpers/observe.js';
import { committedIds, type VirtualTasks } from '../helpers/virtualTasks.js';
import { archiveIt, brief, exerciseOn, type TaskRule, touchIt, virtually } from './support.js';

const minute = 60_000;

const sentFor = ({ attempts }: VirtualTasks, contractId: string): number =>
  attempts.filter(({ commandId }) => commandId === `rule:${contractId}`).length;

const failed = (seen: Observed<Acted>): readonly Extract<Acted, { _tag: 'Failed' }>[] =>
  seen.values.filter((acted) => acted._tag === 'Failed');

/** The delays after failures, in milliseconds. */
const delaysOf = (seen: Observed<Acted>): readonly number[] =>
  failed(seen).map(({ retryAt = NaN }, index) => retryAt - (seen.times[index] ?? NaN));

const breaks = (): never => {
  throw new Error('broken');
};

describe('a rule that fails for a contract', () => {
  const bad: readonly (readonly [string, Partial<TaskRule>, string])[] = [
    ['act throws', { act: breaks }, 'act'],
    ['act rejects', { act: () => throwError(() => new Error('broken')) }, 'act'],
    ['act ends without a value', { act: () => EMPTY }, 'act'],
    ['act never answers', { act: () => NEVER }, 'timeout'],
    ['act returns a number', { act: () => 7 as never }, 'act'],
    ['act returns null', { act: () => null as never }, 'act'],
    ['act emits null', { act: () => of(null) as never }, 'act'],
    ['act returns a request without commands', { act: () => ({ commands: undefined }) as never }, 'act'],
    ['where throws', { where: breaks }, 'act'],
    ['dueAt throws', { dueAt: breaks }, 'act'],
    ['dueAt returns an invalid date', { dueAt: () => new Date(Infinity) }, 'act'],
    ['dueAt returns no date', { dueAt: () => 7 as never }, 'act'],
    ['round throws', { round: breaks }, 'act'],
    ['round is not part of a command id', { round: () => 'é' }, 'command'],
    ['done throws', { done: breaks }, 'act'],
  ];

  it.each(bad)('sends nothing for it when %s, and tries again less and less often (G67)', (_, changes, reason) => {
    virtually(30 * minute, ({ tasks, start }) => {
      tasks.create('a');
      const seen = start(changes, { actTimeoutMs: 1_000 });
      return () => {
        expect(tasks.attempts).toEqual([]);
        expect(seen.error).toBeUndefined();
        const errors = failed(seen).map(({ error }) => error);
        expect(errors.every((error) => isRuleError(error) && error.reason === reason)).toBe(true);
        expect(errors.length).toBeGreaterThan(8);
        expect(errors.length).toBeLessThan(25);
        const delays = delaysOf(seen);
        expect(delays[0]).toBeLessThanOrEqual(1_000);
        expect(delays.at(-1)).toBeGreaterThanOrEqual(150_000);
        expect(Math.max(...delays)).toBeLessThanOrEqual(300_000);
      };
    });
  });

  it('acts as soon as dueAt does not throw any more, at the time that it then names', () => {
    virtually(10 * minute, ({ tasks, start }) => {
      tasks.create('a');
      let calls = 0;
      const seen = start({
        dueAt: () => {
          calls += 1;
          return calls < 4 ? breaks() : new Date(5 * minute);
        },
        act: ({ contractId }) => of(exerciseOn(contractId, 'Archive')),
      });
      return () => {
        expect(brief(seen).at(-1)).toBe('Committed a');
        expect(tasks.attempts.map(({ atMs }) => Math.floor(atMs / 1_000))).toEqual([300]);
      };
    });
  });

  it('says which decision it is', () => {
    virtually(minute, ({ tasks, start }) => {
      tasks.create('a');
      const attempts: number[] = [];
      start({
        act: (contract, context) => {
          attempts.push(context.attempt);
          return context.attempt < 4 ? breaks() : archiveIt(contract, context);
        },
      });
      return () => {
        expect(attempts).toEqual([1, 2, 3, 4]);
        expect(committedIds(tasks)).toEqual(['rule:a']);
      };
    });
  });

  it('acts on the others', () => {
    virtually(minute, ({ tasks, start }) => {
      tasks.create('a', 'b', 'c', 'd');
      const seen = start(
        {
          act: (contract, context) => {
            if (contract.contractId === 'a') breaks();
            return contract.contractId === 'b' ? NEVER : archiveIt(contract, context);
          },
        },
        { concurrency: 1 },
      );
      tasks.faultOf = (commandId) => (commandId === 'rule:c' ? { kind: 'refused', code: 'DAML_FAILURE' } : undefined);
      return () => {
        expect(brief(seen)).toContain('Committed d');
        expect(tasks.commits[0]?.atMs).toBeLessThan(200);
      };
    });
  });

  it('does not slow the others by more than a tenth: 40 of 2000', () => {
    const timeOf = (isPoisonous: (n: number) => boolean): number => {
      let ms = NaN;
      virtually(
        5 * minute,
        ({ tasks, start }) => {
          const ids = Array.from({ length: 2_000 }, (_, n) => `c${n}`);
          tasks.create(...ids);
          const poisonous = new Set(ids.filter((_, n) => isPoisonous(n)));
          const kindOf = (contractId: string): number =>
            poisonous.has(contractId) ? Number(contractId.slice(1)) % 3 : 3;
          tasks.faultOf = (commandId) =>
            kindOf(commandId.slice(5)) === 2 ? { kind: 'refused', code: 'DAML_FAILURE' } : undefined;
          const seen = start(
            {
              consumes: true,
              act: ({ contractId }) => {
                if (kindOf(contractId) === 0) breaks();
                return kindOf(contractId) === 1 ? NEVER : exerciseOn(contractId, 'Archive');
              },
            },
            { concurrency: 8 },
          );
          return () => {
            expect(tasks.commits).toHaveLength(2_000 - poisonous.size);
            expect(seen.error).toBeUndefined();
            for (const contractId of poisonous) expect(sentFor(tasks, contractId)).toBeLessThan(15);
            ms = tasks.commits.at(-1)?.atMs ?? NaN;
          };
        },
        { latencyMs: 0, commitMs: 5 },
      );
      return ms;
    };
    const healthyMs = timeOf(() => false);
    const poisonedMs = timeOf((n) => n % 50 === 7);
    expect(poisonedMs / healthyMs).toBeLessThan(1.1);
    // at once, they would take 1250 ms
    expect(healthyMs).toBeLessThan(1_500);
  });
});

describe('a refused action', () => {
  it('is decided and sent again, less and less often, and does not concern other contracts (G67)', () => {
    virtually(30 * minute, ({ tasks, start }) => {
      tasks.create('a', 'b');
      tasks.faultOf = (commandId) => (commandId === 'rule:a' ? { kind: 'refused', code: 'DAML_FAILURE' } : undefined);
      const seen = start();
      return () => {
        expect(committedIds(tasks)).toEqual(['rule:b']);
        expect(sentFor(tasks, 'a')).toBeGreaterThan(8);
        expect(sentFor(tasks, 'a')).toBeLessThan(25);
        expect(brief(seen).filter((line) => line === 'Failed a: SubmissionRejectedError refusal')).toHaveLength(
          sentFor(tasks, 'a'),
        );
      };
    });
  });

  it('is not sent again for a contract that is archived meanwhile', () => {
    virtually(10 * minute, ({ tasks, start, at }) => {
      tasks.create('a');
      tasks.faultOf = () => ({ kind: 'refused', code: 'DAML_FAILURE' });
      start();
      at(100, () => {
        tasks.archive('a');
      });
      return () => {
        expect(tasks.attempts).toHaveLength(1);
      };
    });
  });
});

describe('an action that loses a race', () => {
  it('is decided again with the contracts as they are then (G66)', () => {
    virtually(5 * minute, ({ tasks, start }) => {
      tasks.create('a', 'b');
      const decisions: string[] = [];
      tasks.faultOf = (_, attempt) => {
        if (attempt === 4) tasks.archive('b');
        return attempt < 5 ? { kind: 'rejected', code: 'LOCAL_VERDICT_LOCKED_CONTRACTS', afterMs: 1 } : undefined;
      };
      const seen = start({
        where: ({ contractId }) => contractId === 'a',
        act: (contract, context) => {
          decisions.push(`${context.attempt} ${context.contracts.has('b') ? 'b' : ''}`);
          return archiveIt(contract, context);
        },
      });
      return () => {
        expect(brief(seen)).toEqual(['Committed a']);
        // the first decision was sent four times
        expect(decisions).toEqual(['1 b', '2 ']);
      };
    });
  });

  it('is obsolete, and no failure, when another transaction has archived the contract (G66)', () => {
    virtually(5 * minute, ({ tasks, start }) => {
      tasks.create('a');
      tasks.faultOf = () => {
        tasks.archive('a');
        return undefined;
      };
      const seen = start();
      return () => {
        expect(brief(seen)).toEqual(['Obsolete a']);
        expect(tasks.attempts).toHaveLength(1);
        expect(tasks.commits).toEqual([]);
      };
    });
  });

  it('again and again becomes a failure, with a bounded number of requests', () => {
    virtually(30 * minute, ({ tasks, start }) => {
      tasks.create('a');
      tasks.faultOf = () => ({ kind: 'rejected', code: 'LOCAL_VERDICT_LOCKED_CONTRACTS', afterMs: 1 });
      const seen = start();
      return () => {
        expect(new Set(brief(seen))).toEqual(new Set(['Failed a: SubmissionRejectedError contention']));
        // four requests for each decision: five races, and then a failure each time
        expect(seen.values.length).toBeGreaterThan(5);
        expect(tasks.attempts).toHaveLength(4 * (5 + seen.values.length));
        expect(tasks.attempts.length).toBeLessThan(120);
      };
    });
  });
});

describe('a participant without traffic, or with too many requests', () => {
  it.each(['SEQUENCER_NOT_ENOUGH_TRAFFIC_CREDIT', 'SEQUENCER_BACKPRESSURE'] as const)(
    'pauses the rule: %s (G68)',
    (code) => {
      virtually(90 * minute, ({ tasks, start, at }) => {
        const ids = Array.from({ length: 100 }, (_, n) => `c${n}`);
        tasks.create(...ids);
        let isBusy = true;
        tasks.faultOf = () => (isBusy ? { kind: 'rejected', code, afterMs: 100 } : undefined);
        const seen = start({}, { concurrency: 8 });
        let sent = 0;
        at(60 * minute, () => {
          isBusy = false;
          sent = tasks.attempts.length;
        });
        return () => {
          // 8 at first, and then one after each pause; a submission repeats a request that meets back-pressure
          expect(sent).toBeLessThan(code === 'SEQUENCER_BACKPRESSURE' ? 2_000 : 40);
          expect(tasks.commits).toHaveLength(100);
          expect(tasks.attempts.length - sent).toBeLessThan(110);
          expect(brief(seen).filter((line) => line.startsWith('Committed'))).toHaveLength(100);
        };
      });
    },
  );

  it('is left alone for a second at first, however many actions it refuses at once', () => {
    virtually(minute, ({ tasks, start }) => {
      tasks.create(...Array.from({ length: 8 }, (_, n) => `c${n}`));
      tasks.faultOf = (_, attempt) =>
        attempt > 1 ? undefined : { kind: 'rejected', code: 'SEQUENCER_NOT_ENOUGH_TRAFFIC_CREDIT', afterMs: 1 };
      start({}, { concurrency: 8 });
      return () => {
        expect(tasks.commits).toHaveLength(8);
        expect(tasks.commits.at(-1)?.atMs).toBeLessThan(2_000);
      };
    });
  });

  it('is not taken for healthy because act throws', () => {
    virtually(60 * minute, ({ tasks, start }) => {
      tasks.create(...Array.from({ length: 50 }, (_, n) => `c${n}`));
      tasks.faultOf = () => ({ kind: 'rejected', code: 'SEQUENCER_NOT_ENOUGH_TRAFFIC_CREDIT', afterMs: 1 });
      start({
        act: (contract, context) => {
          return Number(contract.contractId.slice(1)) % 2 === 0 ? breaks() : archiveIt(contract, context);
        },
      });
      return () => {
        expect(tasks.attempts.length).toBeLessThan(40);
      };
    });
  });

  it('pauses also if it cannot be reached for submissions alone', () => {
    virtually(60 * minute, ({ tasks, start }) => {
      tasks.create(...Array.from({ length: 50 }, (_, n) => `c${n}`));
      tasks.faultOf = () => ({ kind: 'refusedConnection' });
      start();
      return () => {
        expect(tasks.attempts.length).toBeLessThan(40);
        expect(tasks.commits).toEqual([]);
      };
    });
  });
});

describe('an action whose outcome is unknown', () => {
  it('is continued with the same commands until it is known, and the contract is not touched before (G69)', () => {
    virtually(40 * minute, ({ tasks, start }) => {
      tasks.create('a');
      let decisions = 0;
      // longer than a submission tries
      tasks.faultOf = (_, attempt) => (attempt < 25 ? { kind: 'lostRequest', how: 'silence' } : undefined);
      const seen = start({
        act: ({ contractId }) => {
          decisions += 1;
          return [exerciseOn(contractId, 'Touch'), exerciseOn(`other-${decisions}`, 'Touch')].slice(0, 1);
        },
      });
      return () => {
        expect(brief(seen).at(0)).toBe('Failed a: OutcomeUnknownError');
        expect(brief(seen).at(-1)).toBe('Committed a');
        expect(decisions).toBe(1);
        expect(tasks.commits).toHaveLength(1);
        const offsets = tasks.attempts.map(({ since }) => since);
        expect(new Set(offsets)).toEqual(new Set([0]));
      };
    });
  });

  it('is found if it was committed', () => {
    virtually(10 * minute, ({ tasks, start }) => {
      tasks.create('a', 'b');
      tasks.faultOf = (_, attempt) => (attempt === 1 ? { kind: 'lostResponse', how: 'reset', afterMs: 50 } : undefined);
      const seen = start({ act: touchIt });
      return () => {
        expect([...brief(seen)].sort()).toEqual(['Committed a again', 'Committed b again']);
        expect(tasks.commits).toHaveLength(2);
      };
    });
  });

  it('is continued on the ledger that has replaced another one meanwhile', () => {
    virtually(60 * minute, ({ tasks, start, at }) => {
      tasks.create('a');
      const seen = start();
      at(5_000, () => {
        tasks.create('b', 'c', 'd');
        tasks.faultOf = () => ({ kind: 'lostRequest', how: 'silence' });
      });
      at(20_000, () => {
        tasks.replace('n');
        tasks.faultOf = (_, attempt) => (attempt < 3 ? { kind: 'lostRequest', how: 'reset' } : undefined);
      });
      return () => {
        expect(committedIds(tasks)).toEqual(['rule:a', 'rule:n']);
        expect(brief(seen).at(-1)).toBe('Committed n');
      };
    });
  });
});

describe('while the contracts are not current', () => {
  it('nothing is begun, and what was due is done afterwards (G68)', () => {
    virtually(10 * minute, ({ tasks, start, at }) => {
      tasks.create('a');
      let decisions = 0;
      const seen = start({
        dueAt: () => new Date(30_000),
        act: (contract, context) => {
          decisions += 1;
          return archiveIt(contract, context);
        },
      });
      at(20_000, () => {
        tasks.goDown(60_000);
      });
      at(75_000, () => {
        expect(decisions).toBe(0);
      });
      return () => {
        expect(brief(seen)).toEqual(['Committed a']);
        expect(tasks.attempts).toHaveLength(1);
        expect(tasks.commits[0]?.atMs).toBeGreaterThan(80_000);
      };
    });
  });
});
