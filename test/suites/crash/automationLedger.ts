import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Fault, type Sandbox, startSandbox, type WireTransaction } from '../../../src/sandbox/index.js';
import type { Orders } from './Child.js';

/** The arguments of a process that runs rules: without a store, rules that need none; with one, a rule with rounds. */
export interface AutomationOrders extends Orders {
  readonly party: string;
  /** The file to which the process appends what it did. */
  readonly notes: string;
  /** The file with the current round. */
  readonly roundFile: string;
}

/** A contract that rules may act on. */
interface Task {
  readonly contractId: string;
  /** The rule; `other` and `never` for none. */
  readonly tag: string;
  /** When it is due, in milliseconds since the epoch. */
  readonly dueAt: number;
}

/** A ledger with contracts for rules, and what was committed for them. */
export interface AutomationLedger {
  readonly sandbox: Sandbox;
  /** Whether its rule has a store. */
  readonly isStored: boolean;
  readonly party: string;
  readonly notes: string;
  readonly roundFile: string;
  /** Creates contracts of each kind. */
  readonly grow: (count: number) => void;
  readonly nextRound: () => void;
  /** Injects random faults from now on. */
  readonly injectFaults: () => void;
  readonly endFaults: () => Promise<void>;
  /** The submissions of a life that are committed, and have no answer yet; and those that are neither. */
  readonly openOf: (life: number) => { readonly committed: number; readonly uncommitted: number };
  /** Waits until each contract that is due is acted on. Returns how long that took, in milliseconds. */
  readonly settled: (maxMs: number) => Promise<number>;
  /** What is wrong with the commits: too many, too few, too early. */
  readonly flaws: () => readonly string[];
  /** Continues with another ledger, which has the first updates of this one. */
  readonly replace: (ledgerEnd: number) => Promise<void>;
  readonly commits: () => number;
  readonly close: () => Promise<void>;
}

/** The path of submissions. */
export const submissions = { path: '/v2/commands/submit-and-wait-for-transaction' };

/** The kinds of contracts, with the rule that acts on each. */
const kinds: Readonly<Record<'stateful' | 'stored', readonly string[]>> = {
  stateful: ['archive', 'transfer', 'receipt', 'later', 'never', 'other'],
  stored: ['fee', 'other'],
};

/** When the contracts are due that must not be acted on, in milliseconds from their creation. */
const neverMs = 600_000;

/** How long no submission must be sent before time passes, in milliseconds: longer than one is held. */
const quietMs = 600;

/** @param kind - for rules that follow from the state alone, or for a rule with a store */
export async function automationLedger(
  kind: keyof typeof kinds,
  folder: string,
  random: () => number,
): Promise<AutomationLedger> {
  // forgets what it prunes
  const sandbox = await startSandbox({ defaultDeduplicationMs: 0, idleCheckpointMs: 300 });
  const party = sandbox.hostedParty('alice');
  // to whom a rule transfers contracts
  sandbox.hostedParty('bob');
  const [notes, roundFile] = [join(folder, 'notes'), join(folder, 'round')];
  let tasks: Task[] = [];
  let [serials, rounds, ahead, passedAt] = [0, 0, 0, 0];
  let injection: Promise<void> | undefined;
  let isOver = false;
  writeFileSync(notes, '');

  const transactions = (): readonly WireTransaction[] =>
    sandbox.updates.flatMap((update) => ('Transaction' in update ? [update.Transaction.value] : []));
  const create = (tag: string): void => {
    const serial = String((serials += 1));
    const times: Readonly<Record<string, number>> = {
      later: Date.now() + Math.round(random() * 2_000),
      never: Date.now() + neverMs,
    };
    const { [tag]: dueAt = 0 } = times;
    const createArgument = { owner: party, amount: `${dueAt}.0`, tag: tag === 'never' ? 'later' : tag, serial };
    const offset = sandbox.append({
      Transaction: {
        value: {
          recordTime: new Date().toISOString(),
          events: [{ CreatedEvent: { createArgument, signatories: [party] } }],
        },
      },
    });
    const [event] = transactions().find((transaction) => transaction.offset === offset)?.events ?? [];
    if (event === undefined || !('CreatedEvent' in event)) throw new Error('the contract was not created');
    const { contractId } = event.CreatedEvent;
    tasks.push({ contractId, tag, dueAt });
  };
  const grow = (count: number): void => {
    for (let n = 0; n < count; n += 1) for (const tag of kinds[kind]) create(tag);
  };
  const nextRound = (): void => {
    writeFileSync(roundFile, String((rounds += 1)));
  };
  nextRound();

  const inject = async (): Promise<void> => {
    let seen = sandbox.requests.length;
    while (!isOver) {
      await wait(5);
      for (; seen < sandbox.requests.length; seen += 1)
        if (random() < 0.12) sandbox.fault(randomFault(random), { path: /^\/v2\//, after: Math.floor(random() * 4) });
    }
  };

  /**
   * Lets the time of the synchronizers pass while no submission is sent: a submission whose answer was lost, and which the
   * participant refuses to repeat because it is pruned, may be committed for minutes.
   */
  const passTime = (): void => {
    const last = sandbox.requests.findLast(({ path }) => path === submissions.path);
    if (Date.now() - Math.max(last?.at ?? 0, passedAt) < quietMs) return;
    passedAt = Date.now();
    ahead += 150_000;
    for (const synchronizerId of sandbox.synchronizers)
      sandbox.append({
        TopologyTransaction: { value: { synchronizerId, recordTime: new Date(Date.now() + ahead).toISOString() } },
      });
  };

  /** The commits for each contract, by command id. */
  const commitsOf = (): ReadonlyMap<string, ReadonlyMap<string, readonly WireTransaction[]>> => {
    const byContract = new Map<string, Map<string, WireTransaction[]>>();
    for (const transaction of transactions()) {
      for (const event of transaction.events) {
        if (!('ExercisedEvent' in event)) continue;
        const { contractId } = event.ExercisedEvent;
        const byCommand = byContract.get(contractId) ?? new Map<string, WireTransaction[]>();
        byContract.set(contractId, byCommand);
        const list = byCommand.get(transaction.commandId) ?? [];
        byCommand.set(transaction.commandId, [...list, transaction]);
      }
    }
    return byContract;
  };
  /** The command id that each contract which is due must have, at the end. */
  const lastCommandOf = ({ tag, contractId }: Task): string =>
    [tag, contractId, ...(tag === 'fee' ? [String(rounds)] : [])].join(':');
  const isDue = ({ tag }: Task): boolean => tag !== 'other' && tag !== 'never';
  /** The commands that are given up: the participant was pruned before their outcome was known. */
  const givenUp = (): ReadonlySet<string> =>
    new Set(
      readFileSync(notes, 'utf8')
        .split('\n')
        .filter((line) => line.includes('"Failed"') && !line.includes('"retryAt"'))
        .map((line) => JSON.parse(line) as { readonly contractId: string; readonly round: string })
        .map(({ contractId, round }) => `fee:${contractId}:${round}`),
    );
  const missing = (): readonly Task[] => {
    const commits = commitsOf();
    const lost = kind === 'stored' ? givenUp() : new Set<string>();
    return tasks.filter(
      (task) =>
        isDue(task) &&
        !lost.has(lastCommandOf(task)) &&
        commits.get(task.contractId)?.has(lastCommandOf(task)) !== true,
    );
  };

  return {
    sandbox,
    isStored: kind === 'stored',
    party,
    notes,
    roundFile,
    grow,
    nextRound,
    injectFaults: () => {
      isOver = false;
      injection = inject();
    },
    endFaults: async () => {
      isOver = true;
      await injection;
    },
    openOf: (life) => {
      const open = sandbox.requests
        .slice(-100)
        .filter(({ path, status, aborted }) => path === submissions.path && status === undefined && !aborted)
        .map(({ body }) => (body as { readonly commands: Readonly<Record<string, string>> }).commands)
        .filter(({ workflowId }) => workflowId === `life ${life}`);
      if (open.length === 0) return { committed: 0, uncommitted: 0 };
      const committed = new Set(transactions().map(({ commandId }) => commandId));
      const count = open.filter(({ commandId = '' }) => committed.has(commandId)).length;
      return { committed: count, uncommitted: open.length - count };
    },
    settled: async (maxMs) => {
      const startedAt = performance.now();
      while (missing().length > 0 && performance.now() - startedAt < maxMs) {
        await wait(50);
        passTime();
      }
      return Math.round(performance.now() - startedAt);
    },
    flaws: () => {
      const commits = commitsOf();
      const found = missing().map((task) => `${lastCommandOf(task)}: no commit`);
      for (const task of tasks) {
        const byCommand = [...(commits.get(task.contractId) ?? [])];
        for (const [commandId, list] of byCommand) {
          if (list.length > 1) found.push(`${commandId}: ${list.length} commits`);
          if (!isDue(task) || !commandId.startsWith(`${task.tag}:`)) found.push(`${commandId}: is not due`);
          if (list.some(({ recordTime }) => Date.parse(recordTime) < task.dueAt))
            found.push(`${commandId}: before it is due`);
        }
        if (task.tag !== 'fee' && byCommand.length > 1) found.push(`${task.contractId}: ${byCommand.length} commands`);
      }
      return found;
    },
    replace: async (ledgerEnd) => {
      await sandbox.restart({
        whileDown: () => {
          sandbox.restore(ledgerEnd);
          const created = new Set(
            transactions().flatMap(({ events }) =>
              events.flatMap((event) => ('CreatedEvent' in event ? [event.CreatedEvent.contractId] : [])),
            ),
          );
          tasks = tasks.filter(({ contractId }) => created.has(contractId));
          grow(3);
        },
      });
    },
    commits: () => transactions().filter(({ commandId }) => commandId !== '').length,
    close: async () => {
      isOver = true;
      await injection;
      await sandbox.close();
    },
  };
}

/** A random fault of a kind that an automation survives. */
function randomFault(random: () => number): Fault {
  const upTo = (most: number): number => Math.floor(random() * most);
  const faults: readonly (() => Fault)[] = [
    () => ({ kind: 'reset', when: 'before' }),
    () => ({ kind: 'reset', when: 'after' }),
    () => ({ kind: 'truncate', bytes: upTo(2_000), how: 'reset' }),
    () => ({ kind: 'status', status: 503, body: 'The server is overloaded' }),
    () => ({ kind: 'status', status: 503, body: 'The server is overloaded', when: 'after' }),
    () => ({ kind: 'delay', ms: upTo(60) }),
    () => ({ kind: 'reject', code: 'LOCAL_VERDICT_LOCKED_CONTRACTS' }),
    () => ({ kind: 'commitLate', ms: upTo(200), how: 'timeout' }),
    () => ({ kind: 'commitLate', ms: upTo(200), how: 'reset', before: 'registration' }),
  ];
  return faults[upTo(faults.length)]?.() ?? { kind: 'reset' };
}
