import { asyncScheduler, type Observable } from 'rxjs';
import { type AutomationOptions, automate } from '../../src/automation/index.js';
import type { Acted, Rule } from '../../src/automation/index.js';
import type { Command } from '../../src/index.js';
import type { Ledger } from '../../src/ledger/Ledger.js';
import { Marble, Paint } from '../contracts/joinSupport.js';
import { observe, type Observed } from '../helpers/observe.js';
import { committedIds, VirtualTasks } from '../helpers/virtualTasks.js';
import { later, runVirtually } from '../helpers/virtualTime.js';

const alice = 'alice::1220ab';

export const minute = 60_000;

export const ids = (count: number): readonly string[] => Array.from({ length: count }, (_, n) => `c${n}`);

/** The types of the contracts of {@link VirtualTasks}: a receipt is a paint. */
export const types = { marble: Marble, paint: Paint };

export type TaskRule = Rule<typeof types>;

export const exerciseOn = (contractId: string, choice: string): Command => ({
  ExerciseCommand: { templateId: '#marbles:Marbles:Marble', contractId, choice, choiceArgument: {} },
});

/** Archives the contract. */
export const archiveIt: TaskRule['act'] = ({ contractId }) => exerciseOn(contractId, 'Archive');

/** Acts on the contract, and leaves no trace in the contracts. */
export const touchIt: TaskRule['act'] = ({ contractId }) => exerciseOn(contractId, 'Touch');

/** The contract id of the receipt for a contract. */
export const receiptOf = (contractId: string): string => `paint-${contractId}`;

/** Creates a receipt for a contract. */
export const createReceipt = (contractId: string): Command => ({
  CreateCommand: { templateId: '#paints:Paints:Paint', createArguments: { id: receiptOf(contractId) } },
});

/** A rule on all marbles, which it archives by default. */
export const ruleOf = (changes: Partial<TaskRule> = {}): TaskRule => ({
  name: 'rule',
  query: { types, parties: [alice] },
  actAs: [alice],
  userId: 'me',
  where: ({ type }) => type === 'marble',
  act: archiveIt,
  ...changes,
});

/** Runs of rules in virtual time. */
export interface VirtualRun {
  readonly tasks: VirtualTasks;
  readonly ledger: Ledger;
  /** The runs of rules so far. */
  readonly runs: readonly Observed<Acted>[];
  /** Runs a rule until the test ends it. */
  readonly start: (how: Partial<TaskRule> & AutomationOptions, ledger?: Ledger) => Observed<Acted>;
  /** Records something until the test ends it. */
  readonly watch: <A>(source$: Observable<A>) => Observed<A>;
  /** Ends everything. */
  readonly stop: () => void;
  /** Does something later. */
  readonly at: (ms: number, action: () => void) => void;
}

type TaskOptions = ConstructorParameters<typeof VirtualTasks>[0];

/** Runs a test in virtual time, ends its runs after a while, and then returns what the test returned. */
export function virtually<A>(forMs: number, test: (run: VirtualRun) => A, options: TaskOptions = {}): A {
  const results: A[] = [];
  runVirtually(() => {
    const tasks = new VirtualTasks(options);
    const ledger = tasks.connect();
    const all: Observed<unknown>[] = [];
    const runs: Observed<Acted>[] = [];
    const watch = <B>(source$: Observable<B>): Observed<B> => {
      const seen = observe(source$);
      all.push(seen);
      return seen;
    };
    const start: VirtualRun['start'] = (how, other = ledger) => {
      const seen = watch(automate(other, ruleOf(how), how));
      runs.push(seen);
      return seen;
    };
    const stop = (): void => {
      for (const { subscription } of all) subscription.unsubscribe();
    };
    results.push(test({ tasks, ledger, runs, watch, start, stop, at: later }));
    later(forMs, stop);
  });
  setClock(0)();
  return results[0] as A;
}

/** What happens in a run after some milliseconds: a change of the participant, or something else. */
type Step =
  | readonly [atMs: number, change: 'archive' | 'assign' | 'unassign', contractId: string]
  | readonly [atMs: number, change: 'create' | 'replace', ...contractIds: string[]]
  | readonly [atMs: number, change: 'goDown', ms: number]
  | readonly [atMs: number, change: 'prune']
  | readonly [atMs: number, act: (run: VirtualRun) => void];

/** A rule, the options of its run, and what happens meanwhile; all else is as in most tests. */
export interface RunOptions extends Partial<TaskRule>, AutomationOptions {
  /** When it is unsubscribed, in milliseconds. */
  readonly forMs?: number;
  /** Changes the participant once it has the contracts, before the rule runs. */
  readonly before?: (tasks: VirtualTasks) => void;
  readonly later?: readonly Step[];
  /** The faults of attempts to submit. */
  readonly faultOf?: VirtualTasks['faultOf'];
  readonly participant?: TaskOptions;
}

/** Runs a rule on some contracts in virtual time, and returns what it did, and what each run did that was started later. */
export function run(
  contractIds: readonly string[],
  { forMs = minute, before, later: steps = [], faultOf, participant, ...how }: RunOptions = {},
) {
  const begin = (world: VirtualRun) => {
    const { tasks, runs, start, at } = world;
    tasks.create(...contractIds);
    before?.(tasks);
    if (faultOf !== undefined) tasks.faultOf = faultOf;
    const seen = start(how);
    for (const [ms, act, ...parameters] of steps)
      at(ms, () => {
        if (typeof act === 'function') act(world);
        else (tasks[act] as (...all: unknown[]) => void).call(tasks, ...parameters);
      });
    return { tasks, seen, runs };
  };
  const { tasks, seen, runs } = virtually(forMs, begin, participant);
  return { tasks, seen, acted: brief(seen), others: runs.slice(1).map(brief), commits: committedIds(tasks) };
}

/** What a run did, on one line each. */
export const brief = (seen: Observed<Acted>): readonly string[] =>
  seen.values.map((acted) => {
    const { _tag, contractId } = acted;
    if (_tag === 'Committed') return `${_tag} ${contractId}${acted.isRepeated ? ' again' : ''}`;
    if (_tag === 'Obsolete') return `${_tag} ${contractId}`;
    return `${_tag} ${contractId}: ${reasonOf(acted.error)}`;
  });

/** The kind of an error of an action. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const reason: unknown = Reflect.get(error, 'reason');
  return typeof reason === 'string' ? `${error.name} ${reason}` : error.name;
}

const { now } = asyncScheduler;

/** Sets the clock of the machine, but not its timers, until the test ends. */
export const setClock = (shiftMs: number) => (): void => {
  Object.assign(asyncScheduler, { now: () => now.call(asyncScheduler) + shiftMs });
};
