import { describe, expect, it } from '@jest/globals';
import { concatMap, delay, NEVER, of, throwError, timer } from 'rxjs';
import { automate, toAutomationStatus } from '../../src/automation/index.js';
import { isLedgerError } from '../../src/index.js';
import { memoryStore } from '../../src/process/memoryStore.js';
import { committedIds } from '../helpers/virtualTasks.js';
import {
  archiveIt,
  brief,
  createReceipt,
  exerciseOn,
  reasonOf,
  receiptOf,
  ruleOf,
  type TaskRule,
  touchIt,
  virtually,
} from './support.js';

const minute = 60_000;
const ids = (count: number): readonly string[] => Array.from({ length: count }, (_, n) => `c${n}`);

describe('a run of a rule', () => {
  it('acts on as many contracts at the same time as concurrency says', () => {
    for (const concurrency of [1, 3, 8])
      virtually(
        minute,
        ({ tasks, start }) => {
          tasks.create(...ids(24));
          start({}, { concurrency });
          return () => {
            expect(tasks.commits).toHaveLength(24);
            const times = tasks.attempts.map(({ atMs }) => atMs);
            const most = times.map((at) => times.filter((other) => other >= at && other < at + 10).length);
            expect(Math.max(...most)).toBe(concurrency);
          };
        },
        { latencyMs: 1, commitMs: 9 },
      );
  });

  it('aborts at once when it is unsubscribed', () => {
    virtually(minute, ({ tasks, start, at }) => {
      tasks.create(...ids(5));
      const seen = start({}, { concurrency: 2 });
      at(7, () => {
        seen.subscription.unsubscribe();
        expect(tasks.service.open).toBe(0);
      });
      return () => {
        expect(seen.values).toEqual([]);
        // what the participant has received takes effect
        expect(tasks.attempts.length).toBeLessThanOrEqual(2);
      };
    });
  });

  it('begins nothing after signal, finishes what is in progress, and completes (G72)', () => {
    virtually(
      minute,
      ({ tasks, start, at }) => {
        tasks.create(...ids(5));
        const stop = new AbortController();
        const seen = start({}, { concurrency: 2, signal: stop.signal });
        at(100, () => {
          expect(tasks.attempts).toHaveLength(2);
          stop.abort();
        });
        return () => {
          expect(brief(seen)).toEqual(['Committed c0', 'Committed c1']);
          expect(seen.completed).toBe(true);
          expect(seen.endedAt).toBeLessThan(1_100);
          expect(tasks.attempts).toHaveLength(2);
        };
      },
      { commitMs: 1_000 },
    );
  });

  it('abandons after stopWithinMs what is still in progress', () => {
    virtually(
      2 * minute,
      ({ tasks, start, at }) => {
        tasks.create('a', 'b');
        const stop = new AbortController();
        const seen = start({}, { signal: stop.signal, stopWithinMs: 3_000 });
        at(1_000, () => {
          stop.abort();
        });
        return () => {
          expect(seen.values).toEqual([]);
          expect(seen.completed).toBe(true);
          expect(seen.endedAt).toBe(4_000);
        };
      },
      { commitMs: 15_000 },
    );
  });

  it('stops at once if nothing is in progress, while it decides, waits for its turn, or has not begun', () => {
    const cases: readonly Partial<TaskRule>[] = [{ where: () => false }, { act: () => NEVER }];
    for (const changes of cases)
      virtually(minute, ({ tasks, start, at }) => {
        tasks.create('a');
        const store = memoryStore();
        const stop = new AbortController();
        const early = new AbortController();
        early.abort();
        const seen = [
          start(changes, { signal: stop.signal, store }),
          start(changes, { signal: stop.signal, store }),
          start(changes, { signal: early.signal }),
        ];
        at(1_000, () => {
          stop.abort();
        });
        return () => {
          expect(seen.map(({ completed, endedAt }) => [completed, endedAt])).toEqual([
            [true, 1_000],
            [true, 1_000],
            [true, 0],
          ]);
          expect(tasks.attempts).toEqual([]);
        };
      });
  });

  it('passes the request to submit, and may not know what it returns', () => {
    virtually(minute, ({ tasks, start, ledger }) => {
      tasks.create('a');
      const requests: object[] = [];
      const seen = start(
        { act: touchIt },
        {
          submit: (request) => {
            requests.push(request);
            if (requests.length === 1) throw new Error('no keys');
            if (requests.length === 2) return of();
            return ledger.submitAndWaitForTransaction(request);
          },
        },
      );
      return () => {
        expect(brief(seen)).toEqual(['Failed a: Error', 'Failed a: EmptyError', 'Committed a']);
        expect(requests[2]).toMatchObject({
          commandId: 'rule:a',
          userId: 'me',
          deduplicationPeriod: { DeduplicationOffset: { value: 0 } },
        });
      };
    });
  });
});

describe('several runs of a rule', () => {
  it('commit each action once without a store, at the cost of a request each', () => {
    virtually(minute, ({ tasks, start }) => {
      tasks.create(...ids(20));
      const runs = [0, 1, 2].map(() => start({ act: touchIt }, {}, tasks.connect()));
      return () => {
        expect(new Set(committedIds(tasks)).size).toBe(20);
        expect(tasks.commits).toHaveLength(20);
        for (const seen of runs) expect(seen.values.map(({ _tag }) => _tag)).toEqual(Array(20).fill('Committed'));
        expect(tasks.attempts.length).toBeLessThan(200);
      };
    });
  });

  it('act one after the other with a store (G65)', () => {
    virtually(5 * minute, ({ tasks, start, at }) => {
      tasks.create(...ids(3));
      const store = memoryStore();
      const first = start({ act: touchIt }, { store }, tasks.connect());
      const second = start({ act: touchIt }, { store }, tasks.connect());
      at(2_000, () => {
        expect(second.values).toEqual([]);
        tasks.create('d');
      });
      at(4_000, () => {
        first.subscription.unsubscribe();
      });
      at(6_000, () => {
        tasks.create('e');
      });
      return () => {
        expect(brief(first)).toHaveLength(4);
        // it remembers what the first one has done
        expect(brief(second)).toEqual(['Committed e']);
        expect(tasks.attempts).toHaveLength(5);
      };
    });
  });
});

describe('a rule that waits for its name', () => {
  it('does not end although its store fails from time to time', () => {
    virtually(10 * 60 * minute, ({ tasks, start }) => {
      tasks.create('a');
      const memory = memoryStore();
      let holds = 0;
      const hold: typeof memory.hold = (name, standBy) => {
        holds += 1;
        if (holds > 8) return memory.hold(name, standBy);
        return timer(60 * minute).pipe(concatMap(() => throwError(() => new Error('failover'))));
      };
      const seen = start({ act: touchIt }, { store: { ...memory, hold } });
      return () => {
        expect(seen.error).toBeUndefined();
        expect(brief(seen)).toEqual(['Committed a']);
      };
    });
  });
});

describe('a rule on a participant that was pruned', () => {
  it('acts again on nothing when its actions archive their contracts (G70)', () => {
    const cases: readonly (readonly [string, Partial<TaskRule>])[] = [
      ['Archive', { act: archiveIt }],
      ['Accept', { consumes: true, act: ({ contractId }) => exerciseOn(contractId, 'Accept') }],
    ];
    for (const [, changes] of cases)
      virtually(minute, ({ tasks, start }) => {
        tasks.create('a', 'b');
        tasks.prune();
        const seen = start(changes);
        return () => {
          expect(brief(seen)).toEqual(['Committed a', 'Committed b']);
          // the first actions learn from where the participant recognizes repetitions
          expect(tasks.attempts.at(-1)?.since).toBe(1);
        };
      });
  });

  it('acts on older contracts once it has learned that the choice archives its contract', () => {
    virtually(5 * minute, ({ tasks, start, at }) => {
      tasks.create('old', 'later');
      tasks.archive('other');
      tasks.prune();
      tasks.create('new');
      const accept: TaskRule['act'] = ({ contractId }) => exerciseOn(contractId, 'Accept');
      let isLater = false;
      const seen = start({
        act: accept,
        dueAt: ({ contractId }) => (contractId === 'later' && !isLater ? undefined : new Date(0)),
      });
      at(10_000, () => {
        isLater = true;
        tasks.create('other');
      });
      return () => {
        expect([...brief(seen)].sort()).toEqual([
          'Committed later',
          'Committed new',
          'Committed other',
          'Failed old: RuleError pruned',
        ]);
      };
    });
  });

  it('does not learn that from a transaction with other commands, which may have archived it', () => {
    virtually(5 * minute, ({ tasks, start, at }) => {
      tasks.create('old');
      tasks.archive('other');
      tasks.prune();
      tasks.create('x', 'y');
      let isLater = false;
      const seen = start({
        act: ({ contractId }) =>
          contractId === 'x'
            ? [exerciseOn('x', 'Accept'), exerciseOn('y', 'Archive')]
            : exerciseOn(contractId, 'Accept'),
        dueAt: ({ contractId }) => (contractId === 'old' && !isLater ? undefined : new Date(0)),
        where: ({ contractId }) => contractId !== 'y',
      });
      at(10_000, () => {
        isLater = true;
        tasks.create('y2');
      });
      return () => {
        expect(brief(seen).slice(0, 2)).toEqual(['Committed x', 'Failed old: RuleError pruned']);
      };
    });
  });

  it('does not act on an older contract without a store or done, and says why, once (G70)', () => {
    virtually(30 * minute, ({ tasks, start, at }) => {
      tasks.create('a', 'b');
      const first = start({ act: touchIt, where: ({ contractId }) => contractId === 'a' });
      let second: typeof first | undefined;
      at(10_000, () => {
        first.subscription.unsubscribe();
        tasks.prune();
        second = start({ act: touchIt });
      });
      at(20_000, () => {
        tasks.create('c');
      });
      return () => {
        expect(committedIds(tasks)).toEqual(['rule:a', 'rule:c']);
        expect(second && [...brief(second)].sort()).toEqual([
          'Committed c',
          'Failed a: RuleError pruned',
          'Failed b: RuleError pruned',
        ]);
        expect(tasks.attempts.length).toBeLessThan(10);
      };
    });
  });

  it('acts on an older contract for which done is false (G70)', () => {
    virtually(30 * minute, ({ tasks, start, at }) => {
      const changes: Partial<TaskRule> = {
        act: ({ contractId }) => createReceipt(contractId),
        done: ({ contractId }, contracts) => contracts.has(receiptOf(contractId)),
      };
      tasks.create('a', 'b');
      const first = start({ ...changes, where: ({ contractId }) => contractId === 'a' });
      let second: typeof first | undefined;
      at(10_000, () => {
        first.subscription.unsubscribe();
        tasks.prune();
        second = start({ ...changes, where: ({ type }) => type === 'marble' });
      });
      return () => {
        expect(committedIds(tasks)).toEqual(['rule:a', 'rule:b']);
        expect(second && brief(second)).toEqual(['Committed b']);
      };
    });
  });

  it('does not trust done for contracts that are older than the pruned offset', () => {
    virtually(30 * minute, ({ tasks, start, at }) => {
      tasks.create('a');
      const changes: Partial<TaskRule> = {
        where: ({ type }) => type === 'marble',
        done: ({ contractId }, contracts) => contracts.has(receiptOf(contractId)),
      };
      // it decides for a long time, and another run acts and is forgotten meanwhile
      const slow = start({ ...changes, act: ({ contractId }) => of(createReceipt(contractId)).pipe(delay(10_000)) });
      at(2_000, () => {
        start({ ...changes, act: ({ contractId }) => createReceipt(contractId) }, {}, tasks.connect());
      });
      at(4_000, () => {
        tasks.prune();
      });
      return () => {
        expect(committedIds(tasks)).toEqual(['rule:a']);
        expect(slow.values).toEqual([]);
      };
    });
  });

  it('remembers with a store what it has done, and what it may have done (G70)', () => {
    virtually(60 * minute, ({ tasks, start, at }) => {
      const store = memoryStore();
      tasks.create('a', 'b', 'c');
      tasks.faultOf = (commandId) =>
        commandId === 'rule:b' ? { kind: 'lostResponse', how: 'silence', afterMs: 1 } : undefined;
      const changes = { act: touchIt, where: ({ contractId }: { contractId: string }) => contractId !== 'c' };
      const first = start(changes, { store });
      let second: typeof first | undefined;
      at(10_000, () => {
        first.subscription.unsubscribe();
        tasks.faultOf = () => undefined;
        tasks.create('d');
        tasks.prune();
        second = start({ act: touchIt, where: ({ type }) => type === 'marble' }, { store }, tasks.connect());
      });
      return () => {
        // c was never begun, and d is new
        expect([...committedIds(tasks)].sort()).toEqual(['rule:a', 'rule:b', 'rule:c', 'rule:d']);
        expect(second && [...brief(second)].sort()).toEqual([
          'Committed c',
          'Committed d',
          'Failed b: RuleError pruned',
        ]);
      };
    });
  });

  it('settles with a store what it may have done, if the participant still knows', () => {
    virtually(60 * minute, ({ tasks, start, at }) => {
      const store = memoryStore();
      tasks.create('a');
      tasks.faultOf = () => ({ kind: 'lostResponse', how: 'silence', afterMs: 1 });
      const first = start({ act: touchIt }, { store });
      let second: typeof first | undefined;
      at(10_000, () => {
        first.subscription.unsubscribe();
        tasks.faultOf = () => undefined;
        second = start({ act: touchIt }, { store }, tasks.connect());
      });
      return () => {
        expect(committedIds(tasks)).toEqual(['rule:a']);
        expect(second && brief(second)).toEqual(['Committed a again']);
      };
    });
  });

  it('keeps in its store only what concerns active contracts', () => {
    virtually(60 * minute, ({ tasks, start, at }) => {
      const store = memoryStore();
      tasks.create('a', 'b');
      start({ act: touchIt }, { store });
      at(10_000, () => {
        tasks.archive('a');
      });
      at(20_000, () => {
        tasks.create('c');
      });
      return () => {
        const [record] = [...(store.load('rule') as readonly unknown[])];
        expect(record).toMatchObject({ actions: [{ commandId: 'rule:b' }, { commandId: 'rule:c' }] });
      };
    });
  });
});

describe('a rule on contracts that were moved', () => {
  it('does not act again after a restart', () => {
    for (const isPruned of [false, true])
      virtually(30 * minute, ({ tasks, start, at }) => {
        tasks.create('a');
        const first = start({ act: touchIt });
        at(5_000, () => {
          tasks.unassign('a');
          tasks.assign('a');
        });
        at(10_000, () => {
          first.subscription.unsubscribe();
          if (isPruned) tasks.prune();
          tasks.unassign('a');
          tasks.assign('a');
          start({ act: touchIt }, {}, tasks.connect());
        });
        return () => {
          expect(committedIds(tasks)).toEqual(['rule:a']);
        };
      });
  });
});

describe('a ledger that is replaced', () => {
  it('is acted on from its beginning, and nothing of the first one is (G71)', () => {
    virtually(10 * minute, ({ tasks, start, at }) => {
      tasks.create('a', 'b');
      const decided: string[] = [];
      const seen = start({
        dueAt: ({ contractId }) => new Date(contractId === 'b' ? 50_000 : 0),
        act: (contract, context) => {
          decided.push(contract.contractId);
          return archiveIt(contract, context);
        },
      });
      at(30_000, () => {
        tasks.replace('n', 'b2');
      });
      return () => {
        expect(decided).toEqual(['a', 'n', 'b2']);
        expect(committedIds(tasks)).toEqual(['rule:a', 'rule:n', 'rule:b2']);
        expect(seen.error).toBeUndefined();
      };
    });
  });

  it('is refused with a store (G71)', () => {
    virtually(10 * minute, ({ tasks, start, at }) => {
      tasks.create('a');
      const seen = start({ act: touchIt }, { store: memoryStore() });
      at(30_000, () => {
        tasks.replace('n');
      });
      return () => {
        expect(brief(seen)).toEqual(['Committed a']);
        expect(isLedgerError(seen.error, 'CursorError')).toBe(true);
        expect(reasonOf(seen.error)).toBe('CursorError participant');
        expect(tasks.attempts).toHaveLength(1);
      };
    });
  });
});

describe('the status of an automation', () => {
  it('shows what it does', () => {
    virtually(10 * minute, ({ tasks, ledger, watch, at }) => {
      tasks.create('a', 'b', 'c', 'd');
      tasks.faultOf = (commandId) => (commandId === 'rule:b' ? { kind: 'refused', code: 'DAML_FAILURE' } : undefined);
      const rule = ruleOf({ dueAt: ({ contractId }) => new Date(contractId === 'c' ? 300_000 : 0) });
      const retry = { baseDelayMs: 300_000 };
      const seen = watch(automate(ledger, rule, { retry }).pipe(toAutomationStatus()));
      at(100_000, () => {
        tasks.archive('b');
      });
      return () => {
        expect(seen.values.find(({ at }) => at > 50_000)).toMatchObject({
          role: 'leader',
          state: 'running',
          due: 0,
          running: 0,
          waiting: 2,
          failed: 1,
          failures: [{ contractId: 'b', message: expect.stringContaining('DAML_FAILURE') as unknown }],
          lagMs: 0,
          committed: 2,
          obsolete: 0,
          offset: 3,
        });
        expect(seen.values.at(-1)).toMatchObject({ waiting: 0, failed: 0, committed: 3 });
        const differences = seen.times.slice(1).map((ms, index) => ms - (seen.times[index] ?? 0));
        expect(Math.max(...differences)).toBeLessThanOrEqual(1_000);
      };
    });
  });

  it('shows who waits, what starts, what is stale, and what pauses', () => {
    virtually(10 * minute, ({ tasks, ledger, watch, at }) => {
      tasks.create('a');
      const store = memoryStore();
      tasks.faultOf = () => ({ kind: 'rejected', code: 'SEQUENCER_NOT_ENOUGH_TRAFFIC_CREDIT', afterMs: 1 });
      const retry = { baseDelayMs: 60_000 };
      const [first, second] = [0, 1].map(() =>
        watch(automate(ledger, ruleOf(), { store, retry }).pipe(toAutomationStatus())),
      );
      at(20_000, () => {
        tasks.goDown(10_000);
      });
      return () => {
        const at = (ms: number) => first?.values.find((status) => status.at >= ms);
        expect(at(5_000)).toMatchObject({ role: 'leader', state: 'paused', due: 0, waiting: 1, failed: 1 });
        expect(at(25_000)).toMatchObject({ role: 'leader', state: 'stale' });
        expect(second?.values[5]).toMatchObject({ role: 'standby', state: 'waiting', due: 0 });
      };
    });
  });

  it('does not count contracts that are archived before they are due', () => {
    virtually(minute, ({ tasks, ledger, watch, at }) => {
      tasks.create(...ids(3));
      const rule = ruleOf({ dueAt: () => new Date(100 * minute) });
      const seen = watch(automate(ledger, rule).pipe(toAutomationStatus()));
      at(10_000, () => {
        tasks.archive('c0');
        tasks.archive('c1');
      });
      return () => {
        expect(seen.values[5]).toMatchObject({ waiting: 3 });
        expect(seen.values.at(-1)).toMatchObject({ waiting: 1 });
      };
    });
  });

  it('shows how long the oldest contract has been due', () => {
    virtually(minute, ({ tasks, ledger, watch }) => {
      tasks.create(...ids(3));
      tasks.faultOf = () => ({ kind: 'slow', ms: 15_000 });
      const seen = watch(automate(ledger, ruleOf(), { concurrency: 1 }).pipe(toAutomationStatus()));
      return () => {
        expect(seen.values.find(({ at }) => at >= 10_000)).toMatchObject({ due: 2, running: 1 });
        expect(seen.values.find(({ at }) => at >= 10_000)?.lagMs).toBeGreaterThan(9_000);
        expect(seen.values.at(-1)).toMatchObject({ due: 0, lagMs: 0, committed: 3 });
      };
    });
  });

  it('requires automate as its source, and a valid time', () => {
    expect(() => of().pipe(toAutomationStatus())).toThrow(TypeError);
    expect(() => toAutomationStatus({ everyMs: 0 })).toThrow(TypeError);
    expect(() => toAutomationStatus({ everyMs: NaN })).toThrow(TypeError);
  });
});

describe('automate', () => {
  it.each([
    ['no name', { name: '' }],
    ['a name with a colon', { name: 'a:b' }],
    ['a long name', { name: 'a'.repeat(61) }],
    ['no party', { actAs: [] }],
    ['a party instead of a list', { actAs: 'alice' as never }],
    ['no act', { act: undefined as never }],
    ['no parties in its query', { query: { parties: 'alice' as never } }],
  ])('throws a TypeError for a rule with %s', (_, changes) => {
    virtually(10, ({ ledger }) => {
      expect(() => automate(ledger, ruleOf(changes))).toThrow(TypeError);
      return () => undefined;
    });
  });

  it.each([
    { concurrency: 0 },
    { concurrency: 1.5 },
    { concurrency: NaN },
    { actTimeoutMs: 0 },
    { actTimeoutMs: NaN },
    { stopWithinMs: -1 },
    { stopWithinMs: NaN },
    { retry: { baseDelayMs: 0 } },
    { retry: { maxDelayMs: NaN } },
  ])('throws a TypeError for %j', (options) => {
    virtually(10, ({ ledger }) => {
      expect(() => automate(ledger, ruleOf(), options)).toThrow(TypeError);
      return () => undefined;
    });
  });

  it('takes infinite times', () => {
    virtually(minute, ({ tasks, start, at }) => {
      tasks.create('a');
      const stop = new AbortController();
      const seen = start({}, { actTimeoutMs: Infinity, stopWithinMs: Infinity, signal: stop.signal });
      at(5_000, () => {
        stop.abort();
      });
      return () => {
        expect(brief(seen)).toEqual(['Committed a']);
        expect(seen.completed).toBe(true);
      };
    });
  });
});
