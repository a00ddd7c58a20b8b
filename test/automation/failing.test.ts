import { describe, expect, it } from '@jest/globals';
import { asyncScheduler, concatMap, EMPTY, NEVER, of, throwError, timer } from 'rxjs';
import { type Acted, type ActionRequest, isRuleError } from '../../src/automation/index.js';
import { type Diagnostic, LedgerResetError, OutcomeUnknownError, PrunedError } from '../../src/index.js';
import type { CommandFault } from '../helpers/CommandService.js';
import type { Observed } from '../helpers/observe.js';
import { withoutText } from '../helpers/thrown.js';
import { archiveIt, brief, exerciseOn, ids, minute, run, type TaskRule, touchIt, virtually } from './support.js';

const refusal: CommandFault = { kind: 'refused', code: 'DAML_FAILURE' };
const locked: CommandFault = { kind: 'rejected', code: 'LOCAL_VERDICT_LOCKED_CONTRACTS', afterMs: 1 };
const noTraffic: CommandFault = { kind: 'rejected', code: 'SEQUENCER_NOT_ENOUGH_TRAFFIC_CREDIT', afterMs: 1 };

const failed = (seen: Observed<Acted>): readonly Extract<Acted, { _tag: 'Failed' }>[] =>
  seen.values.filter((acted) => acted._tag === 'Failed');

/** The delays after failures, in milliseconds. */
const delaysOf = (seen: Observed<Acted>): readonly number[] =>
  failed(seen).map(({ retryAt = NaN }, index) => retryAt - (seen.times[index] ?? NaN));

const breaks = (): never => {
  throw new Error('broken');
};

describe('the diagnostics of a rule', () => {
  it.each(['ledger', 'caller'])('all have its name, if the %s submits', (how) => {
    const diagnostics: Diagnostic[] = [];
    virtually(minute, ({ tasks, ledger, start }) => {
      tasks.create('a', 'b');
      tasks.faultOf = (commandId, attempt) => {
        if (commandId === 'rule:b') return refusal;
        return attempt === 1 ? { kind: 'lostResponse', how: 'reset', afterMs: 10 } : undefined;
      };
      ledger.diagnostics$.subscribe((diagnostic) => diagnostics.push(diagnostic));
      const submit = (request: ActionRequest) => ledger.submitAndWaitForTransaction({ ...request });
      start(how === 'caller' ? { submit } : {});
    });
    expect(diagnostics.map(({ _tag }) => _tag)).toEqual(
      expect.arrayContaining([
        ...['SnapshotCompleted', 'SubmissionSent', 'SubmissionUnclear', 'SubmissionFailed', 'SubmissionCommitted'],
        ...['ActionCommitted', 'ActionFailed', 'WorkCounted'],
      ]),
    );
    expect(diagnostics.filter(({ rule }) => rule !== 'rule')).toEqual([]);
  });
});

describe('a rule that fails for a contract', () => {
  it.each<[string, Partial<TaskRule>, string]>([
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
  ])('sends nothing for it when %s, and tries again less and less often (G67)', (_, changes, reason) => {
    const { tasks, seen } = run(['a'], { ...changes, forMs: 30 * minute, actTimeoutMs: 1_000 });
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
  });

  it.each(withoutText)('acts on the others, whatever it throws: %s (G67)', (_, thrown) => {
    const { acted, seen, commits } = run(['a', 'b'], {
      act: (contract, context) => {
        if (contract.contractId === 'a') throw thrown;
        return archiveIt(contract, context);
      },
    });
    expect(seen.error).toBeUndefined();
    expect(commits).toEqual(['rule:b']);
    expect(acted).toContain('Failed a: RuleError act');
  });

  it('acts as soon as dueAt does not throw any more, at the time that it then names', () => {
    let calls = 0;
    const dueAt = () => ((calls += 1) < 4 ? breaks() : new Date(5 * minute));
    const { acted, tasks } = run(['a'], { dueAt, forMs: 10 * minute });
    expect(acted.at(-1)).toBe('Committed a');
    expect(tasks.attempts.map(({ atMs }) => Math.floor(atMs / 1_000))).toEqual([300]);
  });

  it('says which decision it is', () => {
    const attempts: number[] = [];
    const { commits } = run(['a'], {
      act: (contract, context) => {
        attempts.push(context.attempt);
        return context.attempt < 4 ? breaks() : archiveIt(contract, context);
      },
    });
    expect(attempts).toEqual([1, 2, 3, 4]);
    expect(commits).toEqual(['rule:a']);
  });

  it('acts on the others', () => {
    const { acted, tasks } = run(['a', 'b', 'c', 'd'], {
      act: (contract, context) => {
        if (contract.contractId === 'a') breaks();
        return contract.contractId === 'b' ? NEVER : archiveIt(contract, context);
      },
      concurrency: 1,
      faultOf: (commandId) => (commandId === 'rule:c' ? refusal : undefined),
    });
    expect(acted).toContain('Committed d');
    expect(tasks.commits[0]?.atMs).toBeLessThan(200);
  });

  it('does not slow the others by more than a tenth: 40 of 2000', () => {
    const timeOf = (isPoisonous: (n: number) => boolean): number => {
      const contractIds = ids(2_000);
      const poisonous = new Set(contractIds.filter((_, n) => isPoisonous(n)));
      const kindOf = (id: string): number => (poisonous.has(id) ? Number(id.slice(1)) % 3 : 3);
      const { tasks, seen } = run(contractIds, {
        consumes: true,
        act: ({ contractId }) => {
          if (kindOf(contractId) === 0) breaks();
          return kindOf(contractId) === 1 ? NEVER : exerciseOn(contractId, 'Archive');
        },
        forMs: 5 * minute,
        concurrency: 8,
        faultOf: (commandId) => (kindOf(commandId.slice(5)) === 2 ? refusal : undefined),
        participant: { latencyMs: 0, commitMs: 5 },
      });
      expect(tasks.commits).toHaveLength(2_000 - poisonous.size);
      expect(seen.error).toBeUndefined();
      for (const contractId of poisonous)
        expect(tasks.attempts.filter(({ commandId }) => commandId === `rule:${contractId}`).length).toBeLessThan(15);
      return tasks.commits.at(-1)?.atMs ?? NaN;
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
    const { acted, commits, tasks } = run(['a', 'b'], {
      forMs: 30 * minute,
      faultOf: (commandId) => (commandId === 'rule:a' ? refusal : undefined),
    });
    expect(commits).toEqual(['rule:b']);
    const sent = tasks.attempts.length - 1;
    expect(sent).toBeGreaterThan(8);
    expect(sent).toBeLessThan(25);
    const failures = acted.filter((line) => line === 'Failed a: SubmissionRejectedError refusal');
    expect(failures).toHaveLength(sent);
  });

  it('is not sent again for a contract that is archived meanwhile', () => {
    const options = { forMs: 10 * minute, faultOf: () => refusal, later: [[100, 'archive', 'a']] } as const;
    expect(run(['a'], { ...options }).tasks.attempts).toHaveLength(1);
  });
});

describe('an action that loses a race', () => {
  it('is decided again with the contracts as they are then (G66)', () => {
    const decisions: string[] = [];
    const { acted } = run(['a', 'b'], {
      where: ({ contractId }) => contractId === 'a',
      act: (contract, context) => {
        decisions.push(`${context.attempt} ${context.contracts.has('b') ? 'b' : ''}`);
        return archiveIt(contract, context);
      },
      forMs: 5 * minute,
      before: (tasks) => {
        tasks.faultOf = (_, attempt) => {
          if (attempt === 4) tasks.archive('b');
          return attempt < 5 ? locked : undefined;
        };
      },
    });
    expect(acted).toEqual(['Committed a']);
    // the first decision was sent four times
    expect(decisions).toEqual(['1 b', '2 ']);
  });

  it('is obsolete, and no failure, when another transaction has archived the contract (G66)', () => {
    const { acted, tasks } = run(['a'], {
      before: (tasks) => {
        tasks.faultOf = () => {
          tasks.archive('a');
          return undefined;
        };
      },
    });
    expect(acted).toEqual(['Obsolete a']);
    expect(tasks.attempts).toHaveLength(1);
    expect(tasks.commits).toEqual([]);
  });

  it('again and again becomes a failure, with a bounded number of requests', () => {
    const { acted, tasks } = run(['a'], { forMs: 30 * minute, faultOf: () => locked });
    expect(new Set(acted)).toEqual(new Set(['Failed a: SubmissionRejectedError contention']));
    // four requests for each decision: five races, and then a failure each time; the run may end during the last
    expect(acted.length).toBeGreaterThan(5);
    expect(Math.floor(tasks.attempts.length / 4)).toBe(5 + acted.length);
    expect(tasks.attempts.length).toBeLessThan(120);
  });
});

describe('a participant without traffic, or with too many requests', () => {
  it.each([
    ['SEQUENCER_NOT_ENOUGH_TRAFFIC_CREDIT', 40],
    // a submission repeats a request that meets back-pressure
    ['SEQUENCER_BACKPRESSURE', 2_000],
  ] as const)('pauses the rule: %s (G68)', (code, most) => {
    const { acted, tasks } = run(ids(100), {
      forMs: 90 * minute,
      concurrency: 8,
      faultOf: () => (asyncScheduler.now() < 60 * minute ? { kind: 'rejected', code, afterMs: 100 } : undefined),
    });
    // 8 at first, and then one after each pause
    const [before, after] = [true, false].map((is) => tasks.attempts.filter(({ atMs }) => atMs < 60 * minute === is));
    expect(before?.length).toBeLessThan(most);
    expect(after?.length).toBeLessThan(110);
    expect(tasks.commits).toHaveLength(100);
    expect(acted.filter((line) => line.startsWith('Committed'))).toHaveLength(100);
  });

  it('is left alone for a second at first, however many actions it refuses at once', () => {
    const { tasks } = run(ids(8), { concurrency: 8, faultOf: (_, attempt) => (attempt > 1 ? undefined : noTraffic) });
    expect(tasks.commits).toHaveLength(8);
    expect(tasks.commits.at(-1)?.atMs).toBeLessThan(2_000);
  });

  it.each<[string, CommandFault, Partial<TaskRule>]>([
    [
      'it is not taken for healthy because act throws',
      noTraffic,
      { act: (it, context) => (Number(it.contractId.slice(1)) % 2 === 0 ? breaks() : archiveIt(it, context)) },
    ],
    ['it cannot be reached for submissions alone', { kind: 'refusedConnection' }, {}],
  ])('gets few requests in an hour: %s', (_, fault, changes) => {
    const { tasks } = run(ids(50), { ...changes, forMs: 60 * minute, faultOf: () => fault });
    expect(tasks.attempts.length).toBeLessThan(40);
    expect(tasks.commits).toEqual([]);
  });
});

describe('an action whose outcome is unknown', () => {
  it('is continued with the same commands until it is known, and the contract is not touched before (G69)', () => {
    let decisions = 0;
    const { acted, tasks } = run(['a'], {
      act: ({ contractId }) => {
        decisions += 1;
        return [exerciseOn(contractId, 'Touch')];
      },
      forMs: 40 * minute,
      // longer than a submission tries
      faultOf: (_, attempt) => (attempt < 25 ? { kind: 'lostRequest', how: 'silence' } : undefined),
    });
    expect(acted.at(0)).toBe('Failed a: OutcomeUnknownError');
    expect(acted.at(-1)).toBe('Committed a');
    expect(decisions).toBe(1);
    expect(tasks.commits).toHaveLength(1);
    expect(new Set(tasks.attempts.map(({ since }) => since))).toEqual(new Set([0]));
  });

  it('is that of one submission, which knows of all attempts', () => {
    let calls = 0;
    const seen = virtually(40 * minute, ({ tasks, ledger, start }) => {
      tasks.create('a');
      tasks.faultOf = (_, attempt) => (attempt < 25 ? { kind: 'lostRequest', how: 'silence' } : undefined);
      const submit = (request: ActionRequest) => {
        calls += 1;
        return ledger.submitAndWaitForTransaction(request);
      };
      return start({ submit });
    });
    expect(failed(seen).length).toBeGreaterThan(1);
    expect(brief(seen).at(-1)).toBe('Committed a');
    expect(calls).toBe(1);
  });

  it('is determined although the contract is gone meanwhile', () => {
    const { acted } = run(['a'], {
      forMs: 120 * minute,
      retry: { baseDelayMs: 10 * minute, maxDelayMs: 10 * minute },
      // longer than a submission tries
      faultOf: () => (asyncScheduler.now() < 6 * minute ? { kind: 'lostRequest', how: 'silence' } : undefined),
      // while it waits to be continued
      later: [[6 * minute, 'archive', 'a']],
    });
    expect(acted.at(0)).toBe('Failed a: OutcomeUnknownError');
    expect(acted.at(-1)).toBe('Obsolete a');
  });

  it('stays unknown at once if the contract is gone, and so is the ledger to which it was sent', () => {
    const submission = { submissionId: 's', commandId: 'rule:a', userId: 'me', actAs: [], sentAt: 0, attempts: 1 };
    const { seen } = run(['a'], {
      submit: () =>
        timer(5_000).pipe(
          concatMap(() => throwError(() => new OutcomeUnknownError(submission, new LedgerResetError(1)))),
        ),
      later: [[1_000, 'archive', 'a']],
    });
    expect(failed(seen)).toMatchObject([{ error: { _tag: 'OutcomeUnknownError' } }]);
    expect(failed(seen)[0]).not.toHaveProperty('retryAt');
  });

  it('stays unknown if the contract is gone, and nothing shows it for long', () => {
    const { acted, seen } = run(['a'], {
      forMs: 300 * minute,
      faultOf: () => ({ kind: 'lostRequest', how: 'silence' }),
      later: [[4.5 * minute, 'archive', 'a']],
    });
    expect(acted).toEqual(Array.from({ length: 6 }, () => 'Failed a: OutcomeUnknownError'));
    expect(failed(seen).map(({ retryAt }) => retryAt !== undefined)).toEqual([true, true, true, true, true, false]);
  });

  it.each<[string, number | undefined, Partial<TaskRule>, boolean, number]>([
    ['is decided again if the contract is not older than that', 1, {}, true, 1],
    ['is given up if the contract is older', 100, {}, false, 0],
    ['is decided again if the contracts would show it', 100, { done: () => false }, true, 0],
    ['is decided again if it archives the contract', undefined, { act: archiveIt }, true, 0],
    ['is given up if the participant does not say what it has pruned', undefined, { done: () => false }, false, 0],
  ])('and pruned %s', (_, earliest, changes, isDecidedAgain, since) => {
    const submission = { submissionId: 's', commandId: 'rule:a', userId: 'me', actAs: [], sentAt: 0, attempts: 1 };
    const lost = new OutcomeUnknownError(submission, new PrunedError('/v2/updates', earliest));
    const periods: unknown[] = [];
    const { seen } = virtually(10 * minute, ({ tasks, ledger, start, at }) => {
      tasks.create('a');
      at(5 * minute, () => {
        tasks.create('b');
      });
      const submit = (request: ActionRequest) => {
        periods.push(request.deduplicationPeriod);
        return periods.length === 1 ? throwError(() => lost) : ledger.submitAndWaitForTransaction(request);
      };
      return { seen: start({ act: touchIt, ...changes, submit }) };
    });
    const again = isDecidedAgain ? ['Committed a'] : [];
    expect(brief(seen)).toEqual(['Failed a: OutcomeUnknownError', ...again, 'Committed b']);
    // what the participant has pruned is known by now, if it says so
    expect(periods.at(-1)).toEqual({ DeduplicationOffset: { value: since } });
  });

  it('is found if it was committed', () => {
    const { acted, tasks } = run(['a', 'b'], {
      act: touchIt,
      forMs: 10 * minute,
      faultOf: (_, attempt) => (attempt === 1 ? { kind: 'lostResponse', how: 'reset', afterMs: 50 } : undefined),
    });
    expect(acted.toSorted()).toEqual(['Committed a again', 'Committed b again']);
    expect(tasks.commits).toHaveLength(2);
  });

  it('is continued on the ledger that has replaced another one meanwhile', () => {
    const { acted, commits } = run(['a'], {
      forMs: 60 * minute,
      later: [
        [5_000, 'create', 'b', 'c', 'd'],
        [20_000, 'replace', 'n'],
      ],
      faultOf: (_, attempt) => {
        const seconds = asyncScheduler.now() / 1_000;
        if (seconds >= 5 && seconds < 20) return { kind: 'lostRequest', how: 'silence' };
        return seconds >= 20 && attempt < 3 ? { kind: 'lostRequest', how: 'reset' } : undefined;
      },
    });
    expect(commits).toEqual(['rule:a', 'rule:n']);
    expect(acted.at(-1)).toBe('Committed n');
  });
});

describe('while the contracts are not current', () => {
  it('nothing is begun, and what was due is done afterwards (G68)', () => {
    const decidedAt: number[] = [];
    const { acted, tasks } = run(['a'], {
      dueAt: () => new Date(30_000),
      act: (contract, context) => {
        decidedAt.push(asyncScheduler.now());
        return archiveIt(contract, context);
      },
      forMs: 10 * minute,
      later: [[20_000, 'goDown', 60_000]],
    });
    expect(acted).toEqual(['Committed a']);
    expect(tasks.attempts).toHaveLength(1);
    expect(Math.min(...decidedAt)).toBeGreaterThan(75_000);
    expect(tasks.commits[0]?.atMs).toBeGreaterThan(80_000);
  });
});
