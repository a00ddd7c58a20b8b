import { describe, expect, it } from '@jest/globals';
import { asyncScheduler, delay, from, of } from 'rxjs';
import { automate } from '../../src/automation/index.js';
import {
  archiveIt,
  brief,
  createReceipt,
  exerciseOn,
  ids,
  minute,
  receiptOf,
  ruleOf,
  run,
  setClock,
  type TaskRule,
  touchIt,
  virtually,
} from './support.js';

const hour = 60 * minute;
const day = 24 * hour;
const now = () => asyncScheduler.now();

describe('a rule acts', () => {
  it('once on each contract, whether it is there at the start or created later', () => {
    const { acted, commits, tasks } = run(['a', 'b'], { later: [[1_000, 'create', 'c']] });
    expect(acted).toEqual(['Committed a', 'Committed b', 'Committed c']);
    expect(commits).toEqual(['rule:a', 'rule:b', 'rule:c']);
    expect(tasks.attempts).toHaveLength(3);
  });

  it('on the contracts that where selects', () => {
    const { acted } = run(['a', 'b', 'c'], {
      // JavaScript callers may return what is not a boolean
      where: ({ contractId }) => (contractId === 'b' ? true : (undefined as unknown as boolean)),
    });
    expect(acted).toEqual(['Committed b']);
  });

  it('with the commands and the fields of a request, and with its own user, parties and command id', () => {
    // JavaScript callers may return more than the type allows
    const request = { commandId: 'other', userId: 'other', actAs: ['other'], workflowId: 'w' } as unknown as object;
    const { tasks } = run(['a', 'b'], {
      act: ({ contractId }) =>
        contractId === 'a'
          ? [exerciseOn('a', 'Touch'), exerciseOn('a', 'Archive')]
          : { commands: [exerciseOn('b', 'Archive')], ...request },
    });
    const submissions = tasks.service.requests.filter(({ path }) => path.includes('submit-and-wait'));
    expect(submissions.map(({ body }) => body['commands'])).toMatchObject([
      { commandId: 'rule:a', commands: [{}, {}] },
      { commandId: 'rule:b', userId: 'me', actAs: ['alice::1220ab'], workflowId: 'w' },
    ]);
  });

  it('with what an Observable, a Promise or an array of commands says', () => {
    const { acted } = run(['a', 'b', 'c', 'd'], {
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
    expect(acted).toEqual(['Committed c', 'Committed a']);
  });

  it('later on a contract for which there was nothing to do, when the contracts change', () => {
    const decidedAt: number[] = [];
    const { acted } = run(['a', 'b'], {
      where: ({ contractId }) => contractId === 'a',
      act: (contract, context) => {
        decidedAt.push(Math.floor(now() / 1_000));
        return context.contracts.has('b') ? undefined : archiveIt(contract, context);
      },
      later: [[5_000, 'archive', 'b']],
    });
    expect(acted).toEqual(['Committed a']);
    expect(decidedAt).toEqual([0, 5]);
  });

  it('later, when the contracts change while it decides that there is nothing to do', () => {
    const { acted } = run(['a', 'b'], {
      where: ({ contractId }) => contractId === 'a',
      act: (_, { contracts }) => of(contracts.has('b') ? undefined : exerciseOn('a', 'Archive')).pipe(delay(3_000)),
      later: [[1_000, 'archive', 'b']],
    });
    expect(acted).toEqual(['Committed a']);
  });

  it('not on a contract that done knows', () => {
    const { acted, commits } = run(['a', 'b', receiptOf('a')], {
      act: ({ contractId }) => createReceipt(contractId),
      done: ({ contractId }, contracts) => contracts.has(receiptOf(contractId)),
    });
    expect(acted).toEqual(['Committed b']);
    expect(commits).toEqual(['rule:b']);
  });

  it('once for each round', () => {
    const { seen, commits, tasks } = run(['a'], {
      act: touchIt,
      round: () => `hour-${Math.floor(now() / hour)}`,
      dueAt: () => new Date(Math.floor(now() / hour) * hour),
      forMs: 5 * hour,
    });
    expect(commits).toEqual([0, 1, 2, 3, 4].map((n) => `rule:a:hour-${n}`));
    expect(tasks.attempts).toHaveLength(5);
    // an hour begins within a minute
    expect(seen.times.map((ms) => Math.floor((ms % hour) / minute))).toEqual([0, 0, 0, 0, 0]);
  });

  it('at once after a restart of the next round, and not of the last one', () => {
    const first = { act: touchIt, round: () => 'first' };
    const { commits } = run(['a'], {
      ...first,
      later: [
        [
          1_000,
          ({ start, stop }) => {
            stop();
            start(first);
            start({ ...first, round: () => 'second' });
          },
        ],
      ],
    });
    expect(commits).toEqual(['rule:a:first', 'rule:a:second']);
  });

  it('at the time that dueAt names, and never if it names none', () => {
    const dueMs: Readonly<Record<string, number>> = { a: 3 * hour, b: hour + 12_345 };
    const dueAt: TaskRule['dueAt'] = ({ contractId }) =>
      contractId === 'c' ? undefined : new Date(dueMs[contractId] ?? 0);
    const { acted, tasks } = run(['a', 'b', 'c'], { dueAt, forMs: 4 * hour });
    expect(acted).toEqual(['Committed b', 'Committed a']);
    // the first submission reads the start of the ledger first
    expect(tasks.attempts.map(({ atMs }) => atMs)).toEqual([hour + 12_348, 3 * hour]);
  });

  it('months ahead, when the clock says so', () => {
    const steps = [[1_000, setClock(299 * day)] as const, [hour / 2, setClock(300 * day)] as const];
    // the clock is read every minute
    const options = { later: steps, forMs: hour / 2 + minute + 100 };
    const { acted, tasks } = run(['a'], { dueAt: () => new Date(300 * day), ...options });
    expect(acted).toEqual(['Committed a']);
    expect(tasks.attempts[0]?.atMs).toBeGreaterThan(300 * day + hour / 2);
  });

  it('when a change of the contracts makes it due', () => {
    let dueMs = day;
    const { acted, seen } = run(['a', 'b'], {
      where: ({ contractId }) => contractId === 'a',
      dueAt: () => new Date(dueMs),
      forMs: hour,
      later: [
        [100_100, () => (dueMs = 0)],
        [100_100, 'archive', 'b'],
      ],
    });
    expect(acted).toEqual(['Committed a']);
    expect(seen.times[0]).toBeLessThan(101_000);
  });

  it('also if dueAt names the next time as soon as one has come', () => {
    const dueAt = () => new Date(Math.floor(now() / hour + 1) * hour);
    const round = () => `hour-${Math.floor(now() / hour)}`;
    expect(run(['a'], { act: touchIt, dueAt, round, forMs: 1.5 * hour }).commits).toEqual(['rule:a:hour-1']);
  });

  it('first on the contract that has been due for the longest time', () => {
    const dueMs: Readonly<Record<string, number>> = { a: -1, b: -3, c: -4, d: -2 };
    const dueAt: TaskRule['dueAt'] = ({ contractId }) => new Date(dueMs[contractId] ?? 0);
    const { acted } = run(['a', 'b', 'c', 'd'], { dueAt, concurrency: 1 });
    expect(acted).toEqual(['Committed c', 'Committed b', 'Committed d', 'Committed a']);
  });

  it('in that order if it decides slowly, too, by decisions that are not older than necessary', () => {
    const contractIds = ids(60).slice(10);
    const decided = new Map<string, number>();
    const { acted, tasks } = run(contractIds, {
      act: ({ contractId }) => {
        decided.set(`rule:${contractId}`, now());
        return of(exerciseOn(contractId, 'Archive')).pipe(delay(10));
      },
    });
    expect(acted).toEqual(contractIds.map((id) => `Committed ${id}`));
    const waits = tasks.attempts.map(({ commandId, atMs }) => atMs - (decided.get(commandId) ?? 0));
    expect(Math.max(...waits)).toBeLessThan(100);
  });

  it('on a contract in flight once it has arrived', () => {
    const { acted, tasks } = run(['a'], {
      before: (tasks) => {
        tasks.unassign('a');
      },
      later: [[10_000, 'assign', 'a']],
    });
    expect(acted).toEqual(['Committed a']);
    expect(tasks.attempts.map(({ atMs }) => atMs >= 10_000)).toEqual([true]);
  });

  it('not on a contract that leaves before it is tried again, or while it decides', () => {
    let isBroken = true;
    const { acted, tasks } = run(['a', 'b'], {
      act: ({ contractId }) => {
        if (contractId === 'b') return of(exerciseOn('b', 'Archive')).pipe(delay(5_000));
        if (isBroken) throw new Error('broken');
        return exerciseOn('a', 'Archive');
      },
      forMs: 5 * minute,
      later: [
        [300, () => (isBroken = false)],
        ...['a', 'b'].flatMap((id) => [[300, 'unassign', id] as const, [100_000, 'assign', id] as const]),
      ],
    });
    expect(acted).toEqual(['Failed a: RuleError act', 'Committed a', 'Committed b']);
    expect(tasks.attempts.map(({ atMs }) => atMs >= 100_000)).toEqual([true, true]);
  });

  it('not on a contract that is archived while it decides, even to create another one', () => {
    const act: TaskRule['act'] = ({ contractId }) => of(createReceipt(contractId)).pipe(delay(3_000));
    const { acted, commits } = run(['a', 'b'], { act, later: [[1_000, 'archive', 'a']] });
    expect(acted).toEqual(['Committed b']);
    expect(commits).toEqual(['rule:b']);
  });

  it('not again before the view shows its transaction, and then on the next round', () => {
    let round = 1;
    const decisions: (readonly [number, boolean])[] = [];
    const { seen, commits } = run(['a'], {
      round: () => `round-${round}`,
      act: ({ contractId }, { contracts }) => {
        decisions.push([round, contracts.has(receiptOf(contractId))]);
        round = 2;
        return createReceipt(contractId);
      },
      participant: { lagMs: 5_000 },
    });
    // the round of the first decision is that before it
    expect(commits).toEqual(['rule:a:round-1', 'rule:a:round-2']);
    expect(decisions).toEqual([
      [1, false],
      [2, true],
    ]);
    expect(seen.values).toHaveLength(2);
  });

  it('once for all subscriptions at the same time, and again on all contracts after the last of them', () => {
    const { tasks, seen } = virtually(minute, ({ tasks, ledger, watch, at }) => {
      tasks.create('a', 'b');
      const acted$ = automate(ledger, ruleOf({ act: touchIt }));
      const seen = [watch(acted$)];
      at(5_000, () => seen.push(watch(acted$)));
      at(6_000, () => tasks.create('c'));
      at(10_000, () => {
        for (const { subscription } of seen) subscription.unsubscribe();
      });
      at(15_000, () => seen.push(watch(acted$)));
      return { tasks, seen };
    });
    expect(seen.map(brief)).toEqual([
      ['Committed a', 'Committed b', 'Committed c'],
      ['Committed c'],
      ['Committed a again', 'Committed b again', 'Committed c again'],
    ]);
    expect(tasks.commits).toHaveLength(3);
  });
});

describe('a clock that is set back', () => {
  it.each([
    ['a failed action', { kind: 'refused', code: 'DAML_FAILURE' }],
    ['a pause', { kind: 'rejected', code: 'SEQUENCER_NOT_ENOUGH_TRAFFIC_CREDIT', afterMs: 1 }],
  ] as const)('does not delay the end of %s', (_, fault) => {
    const { acted } = run(['a', 'b'], {
      forMs: 200_000,
      faultOf: (_, attempt) => (attempt > 1 ? undefined : fault),
      before: setClock(30 * day),
      later: [[300, setClock(0)]],
    });
    expect(acted.slice(-2).toSorted()).toEqual(['Committed a', 'Committed b']);
  });

  it('does not make a contract due that is due no longer', () => {
    const { acted, tasks } = run(['a'], {
      dueAt: () => new Date(hour),
      forMs: 3 * hour,
      faultOf: (_, attempt) => (attempt < 3 ? { kind: 'refused', code: 'DAML_FAILURE' } : undefined),
      later: [[hour + 300, setClock(-hour)]],
    });
    expect(acted.at(-1)).toBe('Committed a');
    expect(tasks.attempts.map(({ atMs }) => atMs >= hour)).toEqual([true, true, true]);
  });
});

describe('a clock that is set forward', () => {
  it.each([0, 30 * day])(
    'does not make a failed action due before its delay is over, whatever the clock was: %i',
    (first) => {
      const { acted, tasks } = run(['a'], {
        forMs: hour,
        retry: { baseDelayMs: 20 * minute, maxDelayMs: 20 * minute },
        faultOf: (commandId, attempt) =>
          commandId === 'rule:a' && attempt === 1 ? { kind: 'refused', code: 'DAML_FAILURE' } : undefined,
        before: setClock(first),
        later: [
          [1_000, setClock(first + 30 * day)],
          [2_000, 'create', 'b'],
          [3 * minute, setClock(first)],
        ],
      });
      expect(acted).toEqual(['Failed a: SubmissionRejectedError refusal', 'Committed b', 'Committed a']);
      // the clock is the first one again
      const againMs = (tasks.attempts[2]?.atMs ?? 0) - first;
      expect(againMs).toBeGreaterThanOrEqual(10 * minute);
      expect(againMs).toBeLessThanOrEqual(22 * minute);
    },
  );
});

describe('a rule that never acts', () => {
  it.each<[string, Partial<TaskRule>]>([
    ['selects nothing', { where: () => false }],
    ['is never due', { dueAt: () => undefined }],
    ['decides nothing', { act: () => undefined }],
    ['decides nothing, slowly', { act: () => of(undefined).pipe(delay(50)) }],
    ['knows that all is done', { done: () => true }],
  ])('sends no command when it %s', (_, changes) => {
    const { acted, tasks } = run(['a', 'b'], { ...changes, forMs: hour });
    expect([...acted, ...tasks.attempts]).toEqual([]);
  });

  it('and has acted is idle: it sends nothing in hours', () => {
    expect(run(['a', 'b'], { act: touchIt, forMs: 5 * hour }).tasks.attempts).toHaveLength(2);
  });
});
