import { describe, expect, it } from '@jest/globals';
import {
  asyncScheduler,
  concat,
  concatMap,
  defer,
  delay,
  ignoreElements,
  map,
  mergeWith,
  NEVER,
  type ObservableInput,
  merge,
  of,
  take,
  throwError,
  timer,
} from 'rxjs';
import {
  type Acted,
  automate,
  type Automation,
  type AutomationOptions,
  type AutomationStatus,
} from '../../src/automation/index.js';
import { isLedgerError } from '../../src/index.js';
import { memoryStore } from '../../src/process/memoryStore.js';
import { committedIds } from '../helpers/virtualTasks.js';
import {
  archiveIt,
  brief,
  createReceipt,
  exerciseOn,
  ids,
  minute,
  reasonOf,
  receiptOf,
  ruleOf,
  run,
  type TaskRule,
  touchIt,
  types,
  type VirtualRun,
  virtually,
} from './support.js';

const alice = 'alice::1220ab';

/** A signal, and how to abort it at a time. */
function stopAt(ms: number) {
  const controller = new AbortController();
  const abort = (): void => {
    controller.abort();
  };
  return { signal: controller.signal, later: [[ms, abort] as const] };
}

describe('a run of a rule', () => {
  it.each([1, 3, 8])('acts on as many contracts at the same time as concurrency says: %i', (concurrency) => {
    const { tasks } = run(ids(24), { concurrency, participant: { latencyMs: 1, commitMs: 9 } });
    expect(tasks.commits).toHaveLength(24);
    const times = tasks.attempts.map(({ atMs }) => atMs);
    const most = times.map((at) => times.filter((other) => other >= at && other < at + 10).length);
    expect(Math.max(...most)).toBe(concurrency);
  });

  it('aborts at once when it is unsubscribed', () => {
    let open: number | undefined;
    const stop = ({ tasks, stop }: VirtualRun): void => {
      stop();
      open = tasks.service.open;
    };
    const { acted, tasks } = run(ids(5), { concurrency: 2, later: [[7, stop]] });
    expect(open).toBe(0);
    expect(acted).toEqual([]);
    // what the participant has received takes effect
    expect(tasks.attempts.length).toBeLessThanOrEqual(2);
  });

  it('begins nothing after signal, finishes what is in progress, and completes (G72)', () => {
    const options = { concurrency: 2, participant: { commitMs: 1_000 } };
    const { acted, seen, tasks } = run(ids(5), { ...options, ...stopAt(100) });
    expect(acted).toEqual(['Committed c0', 'Committed c1']);
    expect(seen.completed).toBe(true);
    expect(seen.endedAt).toBeLessThan(1_100);
    expect(tasks.attempts.map(({ atMs }) => atMs < 100)).toEqual([true, true]);
  });

  it('abandons after stopWithinMs what is still in progress', () => {
    const options = { stopWithinMs: 3_000, participant: { commitMs: 15_000 } };
    const { seen } = run(['a', 'b'], { ...options, ...stopAt(1_000) });
    expect(seen).toMatchObject({ values: [], completed: true, endedAt: 4_000 });
  });

  it.each<[string, Partial<TaskRule>]>([
    ['nothing is in progress', { where: () => false }],
    ['it decides', { act: () => NEVER }],
  ])('stops at once if %s, or it waits for its turn, or has not begun', (_, changes) => {
    const store = memoryStore();
    const { signal, later } = stopAt(1_000);
    const { runs, tasks } = virtually(minute, ({ tasks, start, runs, at }) => {
      tasks.create('a');
      start({ ...changes, signal, store });
      start({ ...changes, signal, store });
      start({ ...changes, signal: AbortSignal.abort() });
      for (const step of later) at(...step);
      return { runs, tasks };
    });
    expect(runs).toMatchObject([1_000, 1_000, 0].map((endedAt) => ({ completed: true, endedAt })));
    expect(tasks.attempts).toEqual([]);
  });

  it('passes the request to submit, and may not know what it returns', () => {
    const requests: object[] = [];
    const seen = virtually(minute, ({ tasks, start, ledger }) => {
      tasks.create('a');
      const submit: AutomationOptions['submit'] = (request) => {
        requests.push(request);
        if (requests.length === 1) throw new Error('no keys');
        return requests.length === 2 ? of() : ledger.submitAndWaitForTransaction(request);
      };
      return start({ act: touchIt, submit });
    });
    expect(brief(seen)).toEqual(['Failed a: Error', 'Failed a: EmptyError', 'Committed a']);
    expect(requests[2]).toMatchObject({
      commandId: 'rule:a',
      userId: 'me',
      deduplicationPeriod: { DeduplicationOffset: { value: 0 } },
    });
  });
});

describe('several runs of a rule', () => {
  it('commit each action once without a store, at the cost of a request each', () => {
    const { runs, tasks } = virtually(minute, ({ tasks, start, runs }) => {
      tasks.create(...ids(20));
      for (let n = 0; n < 3; n += 1) start({ act: touchIt }, tasks.connect());
      return { runs, tasks };
    });
    expect(committedIds(tasks).toSorted()).toEqual(
      ids(20)
        .map((id) => `rule:${id}`)
        .toSorted(),
    );
    for (const seen of runs) expect(seen.values.map(({ _tag }) => _tag)).toEqual(Array(20).fill('Committed'));
    expect(tasks.attempts.length).toBeLessThan(200);
  });

  it('act one after the other with a store (G65)', () => {
    const store = memoryStore();
    const { acted, others, seen, tasks } = run(ids(3), {
      act: touchIt,
      forMs: 5 * minute,
      store,
      later: [
        [0, ({ start, tasks }) => start({ act: touchIt, store }, tasks.connect())],
        [2_000, 'create', 'd'],
        [4_000, ({ runs }) => runs[0]?.subscription.unsubscribe()],
        [6_000, 'create', 'e'],
      ],
    });
    expect(acted).toHaveLength(4);
    expect(Math.max(...seen.times)).toBeLessThan(4_000);
    // it remembers what the first one has done
    expect(others).toEqual([['Committed e']]);
    expect(tasks.attempts).toHaveLength(5);
  });
});

describe('a rule that waits for its name', () => {
  it('does not end although its store fails from time to time', () => {
    const memory = memoryStore();
    let holds = 0;
    const hold: typeof memory.hold = (name, standBy) => {
      holds += 1;
      if (holds > 8) return memory.hold(name, standBy);
      return timer(60 * minute).pipe(concatMap(() => throwError(() => new Error('failover'))));
    };
    const options = { forMs: 10 * 60 * minute, store: { ...memory, hold } };
    const { acted, seen } = run(['a'], { act: touchIt, ...options });
    expect(seen.error).toBeUndefined();
    expect(acted).toEqual(['Committed a']);
  });
});

/** Starts a rule again on a participant that was pruned. */
const restart =
  (how: Partial<TaskRule> & AutomationOptions, prune = true) =>
  ({ tasks, start, stop }: VirtualRun): void => {
    stop();
    tasks.faultOf = () => undefined;
    if (prune) tasks.prune();
    start(how, tasks.connect());
  };

describe('a rule on a participant that was pruned', () => {
  const accept: TaskRule['act'] = ({ contractId }) => exerciseOn(contractId, 'Accept');
  const isMarble: TaskRule['where'] = ({ type }) => type === 'marble';
  const isA: TaskRule['where'] = ({ contractId }) => contractId === 'a';
  const receipts: Partial<TaskRule> = {
    act: ({ contractId }) => createReceipt(contractId),
    done: ({ contractId }, contracts) => contracts.has(receiptOf(contractId)),
    where: isMarble,
  };

  it.each<[string, Partial<TaskRule>]>([
    ['Archive', { act: archiveIt }],
    ['Accept', { consumes: true, act: accept }],
  ])('acts again on nothing when its actions archive their contracts: %s (G70)', (_, changes) => {
    const { acted, tasks } = run(['a', 'b'], {
      ...changes,
      before: (tasks) => {
        tasks.prune();
      },
    });
    expect(acted).toEqual(['Committed a', 'Committed b']);
    // the first actions learn from where the participant recognizes repetitions
    expect(tasks.attempts.at(-1)?.since).toBe(1);
  });

  /** Acts on contracts before the pruned offset, one of which is due later, and on some after it. */
  const learn = (old: readonly string[], created: readonly string[], delayed: string, changes: Partial<TaskRule>) => {
    let isLater = false;
    return run(old, {
      ...changes,
      dueAt: ({ contractId }) => (contractId === delayed && !isLater ? undefined : new Date(0)),
      forMs: 5 * minute,
      before: (tasks) => {
        tasks.archive('none');
        tasks.prune();
        tasks.create(...created);
      },
      later: [
        [10_000, () => (isLater = true)],
        [10_000, 'create', 'other'],
      ],
    }).acted;
  };

  it('acts on older contracts once it has learned that the choice archives its contract', () => {
    const acted = learn(['old', 'later'], ['new'], 'later', { act: accept });
    expect(acted.toSorted()).toEqual([
      'Committed later',
      'Committed new',
      'Committed old',
      'Committed other',
      'Failed old: RuleError pruned',
    ]);
  });

  it('does not learn that from a transaction with other commands, which may have archived it', () => {
    const acted = learn(['old'], ['x', 'y'], 'old', {
      act: ({ contractId: id }) => [exerciseOn(id, 'Accept'), ...(id === 'x' ? [exerciseOn('y', 'Archive')] : [])],
      where: ({ contractId }) => contractId !== 'y',
    });
    expect(acted.slice(0, 2)).toEqual(['Committed x', 'Failed old: RuleError pruned']);
  });

  it('does not act on an older contract without a store or done, and says why, once (G70)', () => {
    const { commits, others, tasks } = run(['a', 'b'], {
      act: touchIt,
      where: isA,
      forMs: 30 * minute,
      later: [
        [10_000, restart({ act: touchIt })],
        [20_000, 'create', 'c'],
      ],
    });
    expect(commits).toEqual(['rule:a', 'rule:c']);
    expect(others[0]?.toSorted()).toEqual(['Committed c', 'Failed a: RuleError pruned', 'Failed b: RuleError pruned']);
    expect(tasks.attempts.length).toBeLessThan(10);
  });

  it('acts on an older contract for which done is false (G70)', () => {
    const { commits, others } = run(['a', 'b'], { ...receipts, where: isA, later: [[10_000, restart(receipts)]] });
    expect(commits).toEqual(['rule:a', 'rule:b']);
    expect(others).toEqual([['Committed b']]);
  });

  it('does not act again with done, although its store has lost what it did', () => {
    const { commits, others } = run(['a'], {
      ...receipts,
      store: memoryStore(),
      forMs: 30 * minute,
      later: [[10_000, restart({ ...receipts, store: memoryStore() })]],
    });
    expect(commits).toEqual(['rule:a']);
    expect(others).toEqual([[]]);
  });

  it('does not trust done for contracts that are older than the pruned offset', () => {
    // it decides for a long time, and another run acts and is forgotten meanwhile
    const act: TaskRule['act'] = ({ contractId }) => of(createReceipt(contractId)).pipe(delay(10_000));
    const { acted, commits } = run(['a'], {
      ...receipts,
      act,
      forMs: 30 * minute,
      later: [
        [2_000, ({ start, tasks }) => start({ ...receipts }, tasks.connect())],
        [4_000, 'prune'],
      ],
    });
    expect(commits).toEqual(['rule:a']);
    expect(acted).toEqual([]);
  });

  it('remembers with a store what it has done, and what it may have done (G70)', () => {
    const store = memoryStore();
    const { commits, others } = run(['a', 'b', 'c'], {
      act: touchIt,
      where: ({ contractId }) => contractId !== 'c',
      forMs: 60 * minute,
      store,
      faultOf: (id) => (id === 'rule:b' ? { kind: 'lostResponse', how: 'silence', afterMs: 1 } : undefined),
      later: [
        [10_000, 'create', 'd'],
        [10_000, restart({ act: touchIt, where: isMarble, store })],
      ],
    });
    // c was never begun, and d is new
    expect(commits.toSorted()).toEqual(['rule:a', 'rule:b', 'rule:c', 'rule:d']);
    expect(others[0]?.toSorted()).toEqual(['Committed c', 'Committed d', 'Failed b: RuleError pruned']);
  });

  it('settles with a store what it may have done, if the participant still knows', () => {
    const store = memoryStore();
    const { commits, others } = run(['a'], {
      act: touchIt,
      forMs: 60 * minute,
      store,
      faultOf: () => ({ kind: 'lostResponse', how: 'silence', afterMs: 1 }),
      later: [[10_000, restart({ act: touchIt, store }, false)]],
    });
    expect(commits).toEqual(['rule:a']);
    expect(others).toEqual([['Committed a again']]);
  });

  it('keeps its position in its store, although an older transaction is found later', () => {
    const store = memoryStore();
    const { tasks } = run(['a', 'b'], {
      act: touchIt,
      store,
      faultOf: (commandId, attempt) =>
        commandId === 'rule:a' && attempt === 1 ? { kind: 'lostResponse', how: 'silence', afterMs: 1 } : undefined,
      later: [[5_000, 'create', 'c']],
      forMs: 10 * minute,
    });
    const [record] = [...(store.load('rule') as readonly { readonly offset: number }[])];
    expect(tasks.commits.map(({ commandId }) => commandId)).toEqual(['rule:a', 'rule:b', 'rule:c']);
    expect(record?.offset).toBe(tasks.commits.at(-1)?.offset);
  });

  it('keeps in its store only what concerns active contracts', () => {
    const store = memoryStore();
    run(['a', 'b'], {
      act: touchIt,
      store,
      later: [
        [10_000, 'archive', 'a'],
        [20_000, 'create', 'c'],
      ],
    });
    const [record] = [...(store.load('rule') as readonly unknown[])];
    expect(record).toMatchObject({ actions: [{ commandId: 'rule:b' }, { commandId: 'rule:c' }] });
  });
});

describe('a rule on contracts that were moved', () => {
  /** A view without its party from 10 to 70 s. An action that is sent before that is known to be committed within that time. */
  const hiding = {
    act: touchIt,
    query: {
      types,
      parties: concat(of([alice]), timer(10_000).pipe(map(() => [])), timer(60_000).pipe(map(() => [alice])), NEVER),
    },
    faultOf: (commandId: string, attempt: number) =>
      commandId === 'rule:b' && attempt === 1
        ? ({ kind: 'lostResponse', how: 'silence', afterMs: 1 } as const)
        : undefined,
  };

  it('does not act again on contracts that its view has not shown for a while (G70)', () => {
    const store = memoryStore();
    const { commits } = run(['a'], {
      ...hiding,
      store,
      forMs: 5 * minute,
      later: [
        [9_500, 'create', 'b'],
        [9_600, 'create', 'c'],
        [15_000, 'prune'],
        [2 * minute, 'archive', 'c'],
        [2 * minute + 1_000, 'create', 'd'],
      ],
    });
    expect(commits).toEqual(['rule:a', 'rule:b', 'rule:c', 'rule:d']);
    // what was archived will not come back
    const [record] = [...(store.load('rule') as readonly unknown[])];
    expect(record).toMatchObject({ actions: ['a', 'b', 'd'].map((id) => ({ commandId: `rule:${id}` })) });
  });

  it('does not act again on them after a restart either (G70)', () => {
    const store = memoryStore();
    const { commits } = run(['a'], {
      ...hiding,
      store,
      forMs: 5 * minute,
      later: [
        [9_500, 'create', 'b'],
        [65_000, restart({ ...hiding, query: { types, parties: [alice] }, store })],
      ],
    });
    expect(commits).toEqual(['rule:a', 'rule:b']);
  });

  it('does not act again after its own function has failed and the participant was pruned', () => {
    const submitted: string[] = [];
    const { commits } = virtually(10 * minute, ({ tasks, ledger, start, at }) => {
      tasks.create('a');
      start({
        act: touchIt,
        store: memoryStore(),
        retry: { baseDelayMs: minute },
        submit: (request) =>
          ledger.submitAndWaitForTransaction(request).pipe(
            map((transaction) => {
              submitted.push(request.commandId);
              if (submitted.length === 1) throw new Error('after the commit');
              return transaction;
            }),
          ),
      });
      at(5_000, () => {
        tasks.create('b');
        tasks.prune();
      });
      return tasks;
    });
    expect(commits.map(({ commandId }) => commandId)).toEqual(['rule:a', 'rule:b']);
  });

  it('acts after all if its first attempts were refused and the participant was pruned', () => {
    const refused = { kind: 'refused', code: 'DAML_FAILURE' } as const;
    const { commits, acted } = run(['a'], {
      act: touchIt,
      store: memoryStore(),
      retry: { baseDelayMs: minute },
      forMs: 10 * minute,
      faultOf: (_, attempt) => (attempt === 1 ? refused : undefined),
      where: ({ contractId }) => contractId === 'a',
      later: [
        [5_000, 'create', 'b'],
        [6_000, 'prune'],
      ],
    });
    expect(commits).toEqual(['rule:a']);
    expect(acted.at(-1)).toBe('Committed a');
  });

  it('acts if they were created after the pruned offset, as the ledger says', () => {
    const { acted, commits } = run(['old'], {
      act: touchIt,
      before: (tasks) => {
        tasks.archive('none');
        tasks.prune();
        tasks.create('new');
        for (const id of ['old', 'new']) {
          tasks.unassign(id);
          tasks.assign(id);
        }
      },
    });
    expect(commits).toEqual(['rule:new']);
    expect(acted.toSorted()).toEqual(['Committed new', 'Failed old: RuleError pruned']);
  });

  it.each([false, true])('does not act again after a restart, whether pruned (%p)', (prune) => {
    const move = [5_000, 10_000].flatMap((ms) => [[ms, 'unassign', 'a'] as const, [ms, 'assign', 'a'] as const]);
    const { commits } = run(['a'], {
      act: touchIt,
      forMs: 30 * minute,
      later: [...move.slice(0, 2), [10_000, restart({ act: touchIt }, prune)], ...move.slice(2)],
    });
    expect(commits).toEqual(['rule:a']);
  });
});

describe('a ledger that is replaced', () => {
  it('is acted on from its beginning, and nothing of the first one is (G71)', () => {
    const decided: string[] = [];
    const { commits, seen } = run(['a', 'b'], {
      dueAt: ({ contractId }) => new Date(contractId === 'b' ? 50_000 : 0),
      act: (contract, context) => {
        decided.push(contract.contractId);
        return archiveIt(contract, context);
      },
      forMs: 10 * minute,
      later: [[30_000, 'replace', 'n', 'b2']],
    });
    expect(decided).toEqual(['a', 'n', 'b2']);
    expect(commits).toEqual(['rule:a', 'rule:n', 'rule:b2']);
    expect(seen.error).toBeUndefined();
  });

  it('is refused with a store (G71)', () => {
    const options = { forMs: 10 * minute, store: memoryStore(), later: [[30_000, 'replace', 'n']] } as const;
    const { acted, seen, tasks } = run(['a'], { act: touchIt, ...options });
    expect(acted).toEqual(['Committed a']);
    expect(isLedgerError(seen.error, 'CursorError')).toBe(true);
    expect(reasonOf(seen.error)).toBe('CursorError participant');
    expect(tasks.attempts).toHaveLength(1);
  });
});

describe('the status of an automation', () => {
  /** Runs a rule, and emits its status. */
  const withStatus = (rule: Automation) => merge(rule.pipe(ignoreElements()), rule.status$);

  /** Watches the status of a rule on some contracts. */
  function statusOf(contractIds: readonly string[], { forMs = minute, prepare, ...how }: Watched) {
    const seen = virtually(forMs, (world) => {
      const { tasks, ledger, watch } = world;
      tasks.create(...contractIds);
      prepare?.(world);
      return watch(withStatus(automate(ledger, ruleOf(how), how)));
    });
    return { ...seen, at: (ms: number) => seen.values.find(({ at }) => at >= ms) };
  }
  interface Watched extends Partial<TaskRule>, AutomationOptions {
    readonly forMs?: number;
    readonly prepare?: (world: VirtualRun) => void;
  }

  it('shows what it does', () => {
    const dueAt: TaskRule['dueAt'] = ({ contractId }) => new Date(contractId === 'c' ? 300_000 : 0);
    const { at, values, times } = statusOf(['a', 'b', 'c', 'd'], {
      dueAt,
      forMs: 10 * minute,
      retry: { baseDelayMs: 300_000 },
      prepare: ({ tasks, at }) => {
        tasks.faultOf = (id) => (id === 'rule:b' ? { kind: 'refused', code: 'DAML_FAILURE' } : undefined);
        at(100_000, () => {
          tasks.archive('b');
        });
      },
    });
    expect(at(50_000)).toMatchObject({
      role: 'leader',
      state: 'running',
      due: 0,
      running: 0,
      waiting: 2,
      failed: 1,
      failures: [{ contractId: 'b', message: expect.stringContaining('DAML_FAILURE') as unknown }],
      oldestMs: 0,
      committed: 2,
      obsolete: 0,
      offset: 3,
    });
    expect(values.at(-1)).toMatchObject({ waiting: 0, failed: 0, committed: 3 });
    const differences = times.slice(1).map((ms, index) => ms - (times[index] ?? 0));
    expect(Math.max(...differences)).toBeLessThanOrEqual(1_000);
  });

  it('shows who waits, what starts, what is stale, and what pauses', () => {
    const options = { store: memoryStore(), retry: { baseDelayMs: minute } };
    const others: ReturnType<typeof statusOf>['values'][] = [];
    const { at } = statusOf(['a'], {
      ...options,
      prepare: ({ tasks, ledger, watch, at }) => {
        tasks.faultOf = () => ({ kind: 'rejected', code: 'SEQUENCER_NOT_ENOUGH_TRAFFIC_CREDIT', afterMs: 1 });
        at(1, () => others.push(watch(withStatus(automate(ledger, ruleOf(), options))).values));
        at(20_000, () => {
          tasks.goDown(10_000);
        });
      },
    });
    expect(at(5_000)).toMatchObject({ role: 'leader', state: 'paused', due: 0, waiting: 1, failed: 1 });
    expect(at(25_000)).toMatchObject({ role: 'leader', state: 'stale' });
    expect(others[0]?.[5]).toMatchObject({ role: 'standby', state: 'waiting', due: 0 });
  });

  /** The roles and states, each once in a row. */
  const rolesOf = (values: readonly AutomationStatus[]): readonly string[] =>
    values.map(({ role, state }) => `${role} ${state}`).filter((text, index, all) => text !== all[index - 1]);

  /** A store whose database is away for a while. */
  function awayStore(fromMs: number, toMs: number, isTransactional = false) {
    const memory = memoryStore();
    const isAway = (): boolean => asyncScheduler.now() >= fromMs && asyncScheduler.now() < toMs;
    const failIfAway = <A>(call: () => A): A => {
      if (isAway()) throw new Error('no route');
      return call();
    };
    const lost$ = timer(new Date(fromMs)).pipe(concatMap(() => throwError(() => new Error('no route'))));
    const transactions = { transact: <A>(work: (tx: unknown) => ObservableInput<A>) => defer(() => work(undefined)) };
    const hold = (name: string, standBy?: () => void) =>
      defer(() => failIfAway(() => memory.hold(name, standBy))).pipe(
        mergeWith(asyncScheduler.now() < fromMs ? lost$ : NEVER),
        map(() => transactions),
      );
    const save: typeof memory.save = (name, cursor) => failIfAway(() => memory.save(name, cursor));
    return { ...memory, save, ...(isTransactional ? { hold, transactions } : {}) };
  }

  it.each<[string, number, readonly string[]]>([
    ['acts', 5_000, ['starting waiting', 'leader running', 'starting disconnected', 'leader running']],
    ['starts', 0, ['starting disconnected', 'leader running']],
  ])('says that the database is away while it %s, and recovers', (_, fromMs, expected) => {
    const store = awayStore(fromMs, 20_000, true);
    // or a random delay may last longer than the test
    const { values, error } = statusOf(['a'], { store, act: touchIt, retry: { maxDelayMs: 10_000 } });
    expect(error).toBeUndefined();
    expect(rolesOf(values)).toEqual(expected);
    const { error: text } = values.find(({ state }) => state === 'disconnected') ?? {};
    expect(text).toContain('no route');
    expect(values.at(-1)).toMatchObject({ state: 'running', committed: 1 });
    expect(values.at(-1)).not.toHaveProperty('error');
  });

  it('says that the store is away that cannot save, and recovers', () => {
    const { values } = statusOf(['a'], {
      store: awayStore(0, 20_000),
      act: touchIt,
      // or a random delay may last longer than the test
      retry: { maxDelayMs: 10_000 },
      prepare: ({ tasks, at }) => {
        at(1_000, () => {
          tasks.create('b');
        });
      },
    });
    expect(rolesOf(values)).toEqual(['starting waiting', 'leader disconnected', 'leader running']);
    expect(values.at(-1)).toMatchObject({ committed: 2 });
  });

  it('does not count contracts that are archived before they are due', () => {
    const { values } = statusOf(ids(3), {
      dueAt: () => new Date(100 * minute),
      prepare: ({ tasks, at }) => {
        at(10_000, () => {
          tasks.archive('c0');
          tasks.archive('c1');
        });
      },
    });
    expect(values[5]).toMatchObject({ waiting: 3 });
    expect(values.at(-1)).toMatchObject({ waiting: 1 });
  });

  it('shows how long the oldest contract has been due', () => {
    const { at, values } = statusOf(ids(3), {
      concurrency: 1,
      prepare: ({ tasks }) => {
        tasks.faultOf = () => ({ kind: 'slow', ms: 15_000 });
      },
    });
    // one that takes long gives its place to another one
    expect(at(3_000)).toMatchObject({ due: 2, running: 1 });
    expect(at(10_000)).toMatchObject({ due: 1, running: 2 });
    expect(at(10_000)?.oldestMs).toBeGreaterThan(9_000);
    expect(values.at(-1)).toMatchObject({ due: 0, oldestMs: 0, committed: 3 });
  });

  it('acts only while the rule is subscribed to, and then once for all subscriptions', () => {
    const { tasks, shown, acted } = virtually(minute, ({ tasks, ledger, watch, at }) => {
      tasks.create('a', 'b');
      const rule = automate(ledger, ruleOf());
      const shown = watch(rule.status$);
      const acted: ReturnType<typeof watch<Acted>>[] = [];
      at(10_500, () => {
        acted.push(watch(rule.pipe(take(2))), watch(rule.pipe(take(2))));
      });
      return { tasks, shown, acted };
    });
    expect(tasks.attempts).toHaveLength(2);
    expect(acted.map(brief)).toEqual([
      ['Committed a', 'Committed b'],
      ['Committed a', 'Committed b'],
    ]);
    expect(shown.values[9]).toEqual({
      rule: 'rule',
      role: 'starting',
      state: 'waiting',
      ...{ waiting: 0, due: 0, running: 0, parked: 0, oldestMs: 0, failed: 0, failures: [], committed: 0, obsolete: 0 },
      at: expect.any(Number),
    });
    // it has ended, and what it has done is still known
    expect(shown.values.at(-1)).toMatchObject({ role: 'starting', state: 'ended', committed: 2 });
  });

  it('reports how much there is to do, and nothing at the end', () => {
    const counted: object[] = [];
    virtually(minute, ({ tasks, ledger, watch }) => {
      tasks.create('a', 'b', 'c');
      const dueAt: TaskRule['dueAt'] = ({ contractId }) => new Date(contractId === 'a' ? 0 : 100 * minute);
      ledger.diagnostics$.subscribe((diagnostic) => {
        if (diagnostic._tag === 'WorkCounted') counted.push(diagnostic);
      });
      watch(automate(ledger, ruleOf({ dueAt })));
    });
    const nothing = { rule: 'rule', waiting: 0, due: 0, running: 0, parked: 0, oldestMs: 0 };
    expect(counted.length).toBeGreaterThan(5);
    expect(counted[2]).toMatchObject({ ...nothing, waiting: 2 });
    expect(counted.at(-1)).toMatchObject(nothing);
  });

  it('counts the contracts on which it does not act again, until that is safe', () => {
    const { values } = statusOf(['a', 'b'], {
      act: touchIt,
      prepare: ({ tasks }) => {
        tasks.archive('none');
        tasks.prune();
      },
    });
    expect(values.at(-1)).toMatchObject({
      parked: 2,
      waiting: 0,
      failed: 0,
      failures: [{ contractId: 'b' }, { contractId: 'a' }],
    });
  });
});

describe('automate', () => {
  it.each<[string, Partial<TaskRule>, AutomationOptions]>([
    ['no name', { name: '' }, {}],
    ['a name with a colon', { name: 'a:b' }, {}],
    ['a long name', { name: 'a'.repeat(61) }, {}],
    ['no party', { actAs: [] }, {}],
    ['a party instead of a list', { actAs: 'alice' as never }, {}],
    ['no act', { act: undefined as never }, {}],
    ['no parties in its query', { query: { parties: 'alice' as never } }, {}],
    ...[0, 1.5, NaN].map((n): [string, object, object] => [`concurrency ${n}`, {}, { concurrency: n }]),
    ...[0, NaN].map((n): [string, object, object] => [`actTimeoutMs ${n}`, {}, { actTimeoutMs: n }]),
    ...[-1, NaN].map((n): [string, object, object] => [`stopWithinMs ${n}`, {}, { stopWithinMs: n }]),
    ['no delay before a retry', {}, { retry: { baseDelayMs: 0 } }],
    ['a delay that is not a number', {}, { retry: { maxDelayMs: NaN } }],
  ])('throws a TypeError for %s', (_, changes, options) => {
    const ledger = virtually(10, (world) => world.ledger);
    expect(() => automate(ledger, ruleOf(changes), options)).toThrow(TypeError);
  });

  it('takes infinite times', () => {
    const { acted, seen } = run(['a'], { actTimeoutMs: Infinity, stopWithinMs: Infinity, ...stopAt(5_000) });
    expect(acted).toEqual(['Committed a']);
    expect(seen.completed).toBe(true);
  });
});
