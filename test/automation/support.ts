import { asyncScheduler, type Observable } from 'rxjs';
import { type AutomationOptions, automate } from '../../src/automation/index.js';
import type { Acted, Rule } from '../../src/automation/index.js';
import type { Command } from '../../src/index.js';
import type { Ledger } from '../../src/ledger/Ledger.js';
import { Marble, Paint } from '../contracts/joinSupport.js';
import { observe, type Observed } from '../helpers/observe.js';
import { VirtualTasks } from '../helpers/virtualTasks.js';
import { later, runVirtually } from '../helpers/virtualTime.js';

export const alice = 'alice::1220ab';

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

/** A run in virtual time. */
export interface VirtualRun {
  readonly tasks: VirtualTasks;
  readonly ledger: Ledger;
  /** Runs a rule until the test ends it. */
  readonly start: (changes?: Partial<TaskRule>, options?: AutomationOptions, ledger?: Ledger) => Observed<Acted>;
  /** Records something until the test ends it. */
  readonly watch: <A>(source$: Observable<A>) => Observed<A>;
  /** Does something later. */
  readonly at: (ms: number, action: () => void) => void;
}

/** Runs a test in virtual time, ends all its runs after a while, and then checks what the test returns. */
export function virtually(
  forMs: number,
  test: (run: VirtualRun) => () => void,
  options: ConstructorParameters<typeof VirtualTasks>[0] = {},
): void {
  let check: (() => void) | undefined;
  runVirtually(() => {
    const tasks = new VirtualTasks(options);
    const ledger = tasks.connect();
    const all: Observed<unknown>[] = [];
    const watch = <A>(source$: Observable<A>): Observed<A> => {
      const seen = observe(source$);
      all.push(seen);
      return seen;
    };
    check = test({
      tasks,
      ledger,
      watch,
      at: later,
      start: (changes, options, other = ledger) => watch(automate(other, ruleOf(changes), options)),
    });
    later(forMs, () => {
      for (const { subscription } of all) subscription.unsubscribe();
    });
  });
  check?.();
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

/** Sets the clock of the machine, but not its timers, for as long as a function of a test runs virtual time. */
export function setClock(shiftMs: number): () => void {
  const { now } = asyncScheduler;
  Object.assign(asyncScheduler, { now: () => now.call(asyncScheduler) + shiftMs });
  return () => {
    Object.assign(asyncScheduler, { now });
  };
}
