import { describe, expect, it } from '@jest/globals';
import { asyncScheduler, delay, from, of } from 'rxjs';
import { automate } from '../../src/automation/index.js';
import type { CommandFault } from '../helpers/CommandService.js';
import { committedIds } from '../helpers/virtualTasks.js';
import {
  archiveIt,
  brief,
  createReceipt,
  exerciseOn,
  receiptOf,
  ruleOf,
  setClock,
  type TaskRule,
  touchIt,
  virtually,
} from './support.js';

const hour = 3_600_000;
const day = 24 * hour;

describe('a rule acts', () => {
  it('once on each contract, whether it is there at the start or created later', () => {
    virtually(4_000, ({ tasks, start, at }) => {
      tasks.create('a', 'b');
      const seen = start();
      at(1_000, () => {
        tasks.create('c');
      });
      return () => {
        expect(brief(seen)).toEqual(['Committed a', 'Committed b', 'Committed c']);
        expect(committedIds(tasks)).toEqual(['rule:a', 'rule:b', 'rule:c']);
        expect(tasks.attempts).toHaveLength(3);
      };
    });
  });

  it('on the contracts that where selects', () => {
    virtually(4_000, ({ tasks, start }) => {
      tasks.create('a', 'b', 'c');
      // JavaScript callers may return what is not a boolean
      const seen = start({
        where: ({ contractId }) => (contractId === 'b' ? true : (undefined as unknown as boolean)),
      });
      return () => {
        expect(brief(seen)).toEqual(['Committed b']);
      };
    });
  });

  it('with the commands and the fields of a request, and with its own user, parties and command id', () => {
    virtually(4_000, ({ tasks, start }) => {
      tasks.create('a', 'b');
      // JavaScript callers may return more than the type allows
      const request = { commandId: 'other', userId: 'other', actAs: ['other'], workflowId: 'w' } as unknown as object;
      start({
        act: ({ contractId }) =>
          contractId === 'a'
            ? [exerciseOn('a', 'Touch'), exerciseOn('a', 'Archive')]
            : { commands: [exerciseOn('b', 'Archive')], ...request },
      });
      return () => {
        const [a, b] = tasks.service.requests
          .filter(({ path }) => path.includes('submit-and-wait'))
          .map(({ body }) => body);
        expect(a).toMatchObject({ commands: { commandId: 'rule:a', commands: [{}, {}] } });
        expect(b).toMatchObject({
          commands: { commandId: 'rule:b', userId: 'me', actAs: ['alice::1220ab'], workflowId: 'w' },
        });
      };
    });
  });

  it('with what an Observable, a Promise or an array of commands says', () => {
    virtually(4_000, ({ tasks, start }) => {
      tasks.create('a', 'b', 'c', 'd');
      const seen = start({
        act: (contract, context) => {
          const action = archiveIt(contract, context) as ReturnType<typeof exerciseOn>;
          switch (contract.contractId) {
            case 'a':
              return from([action, []]).pipe(delay(500));
            case 'b':
              return [];
            case 'c':
              return [[action]].values();
            default:
              return of(undefined);
          }
        },
      });
      return () => {
        expect(brief(seen)).toEqual(['Committed c', 'Committed a']);
      };
    });
  });

  it('later on a contract for which there was nothing to do, when the contracts change', () => {
    virtually(10_000, ({ tasks, start, at }) => {
      tasks.create('a', 'b');
      let decisions = 0;
      const seen = start({
        where: ({ contractId }) => contractId === 'a',
        act: (contract, context) => {
          decisions += 1;
          return context.contracts.has('b') ? undefined : archiveIt(contract, context);
        },
      });
      at(5_000, () => {
        expect(decisions).toBe(1);
        tasks.archive('b');
      });
      return () => {
        expect(brief(seen)).toEqual(['Committed a']);
        expect(decisions).toBe(2);
      };
    });
  });

  it('later, when the contracts change while it decides that there is nothing to do', () => {
    virtually(20_000, ({ tasks, start, at }) => {
      tasks.create('a', 'b');
      const seen = start({
        where: ({ contractId }) => contractId === 'a',
        act: (_contract, context) =>
          of(context.contracts.has('b') ? undefined : exerciseOn('a', 'Archive')).pipe(delay(3_000)),
      });
      at(1_000, () => {
        tasks.archive('b');
      });
      return () => {
        expect(brief(seen)).toEqual(['Committed a']);
      };
    });
  });

  it('not on a contract that done knows', () => {
    virtually(10_000, ({ tasks, start }) => {
      tasks.create('a', 'b', receiptOf('a'));
      const seen = start({
        act: ({ contractId }) => createReceipt(contractId),
        done: ({ contractId }, contracts) => contracts.has(receiptOf(contractId)),
      });
      return () => {
        expect(brief(seen)).toEqual(['Committed b']);
        expect(committedIds(tasks)).toEqual(['rule:b']);
      };
    });
  });

  it('once for each round', () => {
    virtually(5 * hour, ({ tasks, start }) => {
      tasks.create('a');
      const seen = start({
        act: touchIt,
        round: () => `hour-${Math.floor(asyncScheduler.now() / hour)}`,
        dueAt: () => new Date(Math.floor(asyncScheduler.now() / hour) * hour),
      });
      return () => {
        expect(committedIds(tasks)).toEqual([0, 1, 2, 3, 4].map((n) => `rule:a:hour-${n}`));
        expect(tasks.attempts).toHaveLength(5);
        // an hour begins within a minute
        expect(seen.times.map((ms) => Math.floor((ms % hour) / 60_000))).toEqual([0, 0, 0, 0, 0]);
      };
    });
  });

  it('at once after a restart of the next round, and not of the last one', () => {
    virtually(4_000, ({ tasks, ledger, start, at }) => {
      tasks.create('a');
      const first = start({ act: touchIt, round: () => 'first' });
      at(1_000, () => {
        first.subscription.unsubscribe();
        start({ act: touchIt, round: () => 'first' }, {}, ledger);
        start({ act: touchIt, round: () => 'second' }, {}, ledger);
      });
      return () => {
        expect(committedIds(tasks)).toEqual(['rule:a:first', 'rule:a:second']);
      };
    });
  });

  it('at the time that dueAt names, and never if it names none', () => {
    virtually(4 * hour, ({ tasks, start }) => {
      tasks.create('a', 'b', 'c');
      const dueMs: Readonly<Record<string, number>> = { a: 3 * hour, b: hour + 12_345 };
      const seen = start({
        dueAt: ({ contractId }) => (contractId === 'c' ? undefined : new Date(dueMs[contractId] ?? 0)),
      });
      return () => {
        expect(brief(seen)).toEqual(['Committed b', 'Committed a']);
        // the first submission reads the ledger end first
        expect(tasks.attempts.map(({ atMs }) => atMs)).toEqual([hour + 12_347, 3 * hour]);
      };
    });
  });

  it('months ahead, when the clock says so', () => {
    virtually(hour, ({ tasks, start, at }) => {
      tasks.create('a');
      const seen = start({ dueAt: () => new Date(300 * day) });
      let reset = (): void => undefined;
      at(1_000, () => {
        reset = setClock(299 * day);
      });
      at(30 * 60_000, () => {
        expect(tasks.attempts).toEqual([]);
        reset();
        reset = setClock(300 * day);
      });
      // the clock is read every minute
      at(31 * 60_000 + 100, () => {
        expect(brief(seen)).toEqual(['Committed a']);
      });
      return () => {
        reset();
        expect(brief(seen)).toEqual(['Committed a']);
      };
    });
  });

  it('when a change of the contracts makes it due', () => {
    virtually(hour, ({ tasks, start, at }) => {
      tasks.create('a', 'b');
      let dueMs = day;
      const seen = start({ where: ({ contractId }) => contractId === 'a', dueAt: () => new Date(dueMs) });
      at(100_100, () => {
        dueMs = 0;
        tasks.archive('b');
      });
      return () => {
        expect(brief(seen)).toEqual(['Committed a']);
        expect(seen.times[0]).toBeLessThan(101_000);
      };
    });
  });

  it('also if dueAt names the next time as soon as one has come', () => {
    virtually(1.5 * hour, ({ tasks, start }) => {
      tasks.create('a');
      const now = () => asyncScheduler.now();
      start({
        act: touchIt,
        dueAt: () => new Date(Math.floor(now() / hour + 1) * hour),
        round: () => `hour-${Math.floor(now() / hour)}`,
      });
      return () => {
        expect(committedIds(tasks)).toEqual(['rule:a:hour-1']);
      };
    });
  });

  it('first on the contract that has been due for the longest time', () => {
    virtually(4_000, ({ tasks, start }) => {
      tasks.create('a', 'b', 'c', 'd');
      const dueMs: Readonly<Record<string, number>> = { a: -1, b: -3, c: -4, d: -2 };
      const seen = start({ dueAt: ({ contractId }) => new Date(dueMs[contractId] ?? 0) }, { concurrency: 1 });
      return () => {
        expect(brief(seen)).toEqual(['Committed c', 'Committed b', 'Committed d', 'Committed a']);
      };
    });
  });

  it('in that order if it decides slowly, too, by decisions that are not older than necessary', () => {
    virtually(60_000, ({ tasks, start }) => {
      const ids = Array.from({ length: 50 }, (_, i) => `c${i + 10}`);
      tasks.create(...ids);
      const decided = new Map<string, number>();
      const seen = start({
        act: ({ contractId }) => {
          decided.set(contractId, asyncScheduler.now());
          return of(exerciseOn(contractId, 'Archive')).pipe(delay(10));
        },
      });
      return () => {
        expect(brief(seen)).toEqual(ids.map((id) => `Committed ${id}`));
        const waits = tasks.attempts.map(({ commandId, atMs }) => atMs - (decided.get(commandId.slice(5)) ?? 0));
        expect(Math.max(...waits)).toBeLessThan(100);
      };
    });
  });

  it('on a contract in flight once it has arrived', () => {
    virtually(30_000, ({ tasks, start, at }) => {
      tasks.create('a');
      tasks.unassign('a');
      const seen = start();
      at(10_000, () => {
        expect(tasks.attempts).toEqual([]);
        tasks.assign('a');
      });
      return () => {
        expect(brief(seen)).toEqual(['Committed a']);
        expect(tasks.attempts).toHaveLength(1);
      };
    });
  });

  it('not on a contract that leaves before it is tried again, or while it decides', () => {
    virtually(300_000, ({ tasks, start, at }) => {
      tasks.create('a', 'b');
      let isBroken = true;
      const seen = start({
        act: ({ contractId }) => {
          if (contractId === 'b') return of(exerciseOn('b', 'Archive')).pipe(delay(5_000));
          if (isBroken) throw new Error('broken');
          return exerciseOn('a', 'Archive');
        },
      });
      at(300, () => {
        isBroken = false;
        tasks.unassign('a');
        tasks.unassign('b');
      });
      at(100_000, () => {
        expect(tasks.attempts).toEqual([]);
        tasks.assign('a');
        tasks.assign('b');
      });
      return () => {
        expect(brief(seen)).toEqual(['Failed a: RuleError act', 'Committed a', 'Committed b']);
        expect(tasks.attempts).toHaveLength(2);
      };
    });
  });

  it('not on a contract that is archived while it decides, even to create another one', () => {
    virtually(60_000, ({ tasks, start, at }) => {
      tasks.create('a', 'b');
      const seen = start({ act: ({ contractId }) => of(createReceipt(contractId)).pipe(delay(3_000)) });
      at(1_000, () => {
        tasks.archive('a');
      });
      return () => {
        expect(brief(seen)).toEqual(['Committed b']);
        expect(committedIds(tasks)).toEqual(['rule:b']);
      };
    });
  });

  it('not again before the view shows its transaction, and then on the next round', () => {
    virtually(
      60_000,
      ({ tasks, start }) => {
        tasks.create('a');
        let round = 1;
        const decisions: (readonly [number, boolean])[] = [];
        const seen = start({
          round: () => `round-${round}`,
          act: ({ contractId }, { contracts }) => {
            decisions.push([round, contracts.has(receiptOf(contractId))]);
            round = 2;
            return createReceipt(contractId);
          },
        });
        return () => {
          // the round of the first decision is that before it
          expect(committedIds(tasks)).toEqual(['rule:a:round-1', 'rule:a:round-2']);
          expect(decisions).toEqual([
            [1, false],
            [2, true],
          ]);
          expect(seen.values).toHaveLength(2);
        };
      },
      { lagMs: 5_000 },
    );
  });

  it('on all contracts in each of several subscriptions', () => {
    virtually(20_000, ({ tasks, ledger, watch, at }) => {
      tasks.create('a', 'b');
      const acted$ = automate(ledger, ruleOf({ act: touchIt }));
      const first = watch(acted$);
      at(2_000, () => {
        tasks.create('c');
      });
      let second: typeof first | undefined;
      at(5_000, () => {
        second = watch(acted$);
      });
      return () => {
        expect(brief(first)).toEqual(['Committed a', 'Committed b', 'Committed c']);
        expect(second && brief(second)).toEqual(['Committed a again', 'Committed b again', 'Committed c again']);
        expect(tasks.commits).toHaveLength(3);
      };
    });
  });
});

describe('a clock that is set back', () => {
  it.each(['a failed action', 'a pause'])('does not delay the end of %s', (what) => {
    virtually(200_000, ({ tasks, start, at }) => {
      tasks.create('a', 'b');
      const fault: CommandFault =
        what === 'a pause'
          ? { kind: 'rejected', code: 'SEQUENCER_NOT_ENOUGH_TRAFFIC_CREDIT', afterMs: 1 }
          : { kind: 'refused', code: 'DAML_FAILURE' };
      tasks.faultOf = (_, attempt) => (attempt > 1 ? undefined : fault);
      const seen = start();
      let reset = (): void => undefined;
      at(300, () => {
        reset = setClock(-30 * day);
      });
      at(190_000, () => {
        reset();
      });
      return () => {
        expect(brief(seen).slice(-2).sort()).toEqual(['Committed a', 'Committed b']);
      };
    });
  });

  it('does not make a contract due that is due no longer', () => {
    virtually(3 * hour, ({ tasks, start, at }) => {
      tasks.create('a');
      tasks.faultOf = (_, attempt) => (attempt < 3 ? { kind: 'refused', code: 'DAML_FAILURE' } : undefined);
      const seen = start({ dueAt: () => new Date(hour) });
      let reset = (): void => undefined;
      at(hour + 300, () => {
        reset = setClock(-hour);
      });
      at(hour * 1.9, () => {
        expect(tasks.attempts).toHaveLength(1);
      });
      return () => {
        reset();
        expect(brief(seen).at(-1)).toBe('Committed a');
      };
    });
  });
});

describe('a rule that never acts', () => {
  const idle: readonly (readonly [string, Partial<TaskRule>])[] = [
    ['selects nothing', { where: () => false }],
    ['is never due', { dueAt: () => undefined }],
    ['decides nothing', { act: () => undefined }],
    ['decides nothing, slowly', { act: () => of(undefined).pipe(delay(50)) }],
    ['knows that all is done', { done: () => true }],
  ];
  it.each(idle)('sends no command when it %s', (_, changes) => {
    virtually(3_600_000, ({ tasks, start }) => {
      tasks.create('a', 'b');
      const seen = start(changes);
      return () => {
        expect(seen.values).toEqual([]);
        expect(tasks.attempts).toEqual([]);
      };
    });
  });

  it('and has acted is idle: it sends nothing in hours', () => {
    virtually(5 * hour, ({ tasks, start }) => {
      tasks.create('a', 'b');
      start({ act: touchIt });
      return () => {
        expect(tasks.attempts).toHaveLength(2);
      };
    });
  });
});
