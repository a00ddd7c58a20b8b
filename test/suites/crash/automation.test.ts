import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { firstValueFrom, merge, timer } from 'rxjs';
import { automationLedger, type AutomationLedger, submissions } from './automationLedger.js';
import { bundlePrograms, type Child, type Programs } from './Child.js';
import { type Parameters, parameters, print } from './crashes.js';

/** How long it may take after the last fault until all contracts are acted on, in milliseconds. */
const maxSettleMs = 90_000;

/** How long a kill waits for its moment, in milliseconds: another process may do the work. */
const maxWaitMs = 700;

/** How long a process may take to start, in milliseconds. */
const maxStartMs = 10_000;

/** How many processes run at a time. */
const processes = 2;

/** Restarts the participant and prunes it, now and then. */
const disturb: Scenario['chaos'] = async ({ sandbox }, random) => {
  if (random() < 0.2) await sandbox.restart({ downMs: Math.floor(random() * 60) });
  const kept = random() < 0.5 ? 0 : Math.floor(random() * 30);
  if (random() < 0.5) sandbox.prune(Math.max(0, sandbox.ledgerEnd - kept));
};

interface Scenario {
  readonly when: string;
  /** Rules without a store, or a rule with one. */
  readonly kind: 'stateful' | 'stored';
  readonly extent: Parameters;
  /** Called after each kill. */
  readonly chaos: (given: AutomationLedger, random: () => number, killed: number) => Promise<unknown>;
}

const scenarios = [
  {
    when: 'without a store are killed at any moment, and the participant is restarted and pruned (G63)',
    kind: 'stateful',
    extent: parameters(60, 6),
    chaos: disturb,
  },
  {
    when: 'with a store are killed at any moment, and the participant is restarted and pruned (G63)',
    kind: 'stored',
    extent: parameters(40, 4),
    chaos: (given, random, killed) => {
      if (killed % 4 === 0) given.nextRound();
      return disturb(given, random, killed);
    },
  },
  {
    when: 'are killed at any moment, and the ledger is replaced again and again (G71)',
    kind: 'stateful',
    extent: parameters(20, 4),
    chaos: async (given, random) => {
      if (random() < 0.5) await given.replace(Math.floor(random() * given.sandbox.ledgerEnd));
    },
  },
] as const satisfies readonly Scenario[];

describe('rules act once on each contract and round', () => {
  let children: Programs;
  let folder: string;

  beforeAll(async () => {
    children = await bundlePrograms('automation');
  });
  afterAll(async () => {
    await children.remove();
  });
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'canton-rx-crash-'));
  });
  afterEach(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  it.each(scenarios)(
    'when two processes $when',
    async ({ when, kind, extent: { kills, random }, chaos }) => {
      const given = await automationLedger(kind, folder, random);
      const { sandbox, party, notes, roundFile, isStored } = given;
      const begunAt = performance.now();
      const phases = new Map<string, number>();
      let life = 0;
      const orders = {
        ledgerUrl: sandbox.url,
        storeUrl: isStored ? folder : '',
        party,
        notes,
        roundFile,
        commitEvery: 1,
      };
      const start = (): Child => children.start('automation', { ...orders, life: (life += 1) });
      try {
        const running = Array.from({ length: processes }, start);
        given.injectFaults();
        for (let killed = 1; killed <= kills; killed += 1) {
          given.grow(2);
          // with a store, one process works while the others wait
          const working = running.findIndex((each) => each.count('a') > 0);
          const index = working >= 0 && random() < 0.5 ? working : Math.floor(random() * processes);
          const child = running[index] ?? start();
          // most processes work before they are killed, however slow the machine is
          if (child.phase() === 'start' && random() < 0.9 && (working < 0 || index === working))
            await Promise.race([firstValueFrom(merge(child.mark$, timer(maxStartMs))), child.over]);
          await moment(child, given, random);
          const ended = running.find((each) => each.isOver());
          if (ended !== undefined) throw new Error(`it ended by itself: ${(await ended.over) ?? 'without an error'}`);
          const { committed, uncommitted } = given.openOf(child.life);
          child.signal('SIGKILL');
          await child.over;
          const open = uncommitted > 0 ? 'sent' : child.phase();
          const phase = committed > 0 ? 'committed and not answered' : open;
          phases.set(phase, (phases.get(phase) ?? 0) + 1);
          await chaos(given, random, killed);
          running[index] = start();
        }
        await given.endFaults();
        given.grow(1);
        const settledMs = await given.settled(maxSettleMs);
        // nothing is committed again
        await wait(500);
        for (const child of running) child.signal('SIGKILL');
        expect(await Promise.all(running.map(({ over }) => over))).toEqual(Array(processes).fill(undefined));
        const seconds = Math.round((performance.now() - begunAt) / 100) / 10;
        const hit = [...phases].map(([phase, count]) => `${phase} ${count}`).join(', ');
        print(
          `${when}: ${kills} kills in ${seconds} s: ${hit}; ${given.commits()} commits, settled in ${settledMs} ms`,
        );
        expect(given.flaws()).toEqual([]);
        // which of these phases are hit depends on the machine
        const isHit = ['submission', 'sent', 'committed and not answered'].some((phase) => phases.has(phase));
        if (!isStored && kills >= 16) expect(isHit).toBe(true);
      } finally {
        await given.close();
      }
    },
    scenarios[0].extent.timeoutMs,
  );
});

/** Resolves at a random moment of a process, when it must be killed. */
async function moment(
  child: Child,
  { sandbox, openOf, isStored }: AutomationLedger,
  random: () => number,
): Promise<void> {
  const upTo = (most: number): number => Math.floor(random() * most);
  const marked = (mark: string, more: number): (() => boolean) => {
    const count = child.count(mark) + 1 + more;
    return () => child.count(mark) >= count;
  };
  const until = async (isReached: () => boolean): Promise<void> => {
    const startedAt = performance.now();
    while (!isReached() && !child.isOver() && performance.now() - startedAt < maxWaitMs) await wait(2);
  };
  const moments: readonly (() => Promise<unknown>)[] = [
    () => wait(upTo(maxWaitMs)),
    () => until(marked('a', upTo(5))),
    () => until(marked('w', upTo(5))),
    () => until(marked('k', upTo(5))),
    () => until(marked(isStored ? 's' : 'a', upTo(3))),
    async () => {
      sandbox.fault({ kind: 'delay', ms: 400 }, { ...submissions, times: 8 });
      await until(() => openOf(child.life).committed > 0);
    },
    async () => {
      sandbox.fault({ kind: 'commitLate', ms: 50 + upTo(400), how: 'timeout' }, { ...submissions, times: 3 });
      await until(marked('w', upTo(3)));
      await wait(upTo(40));
    },
    async () => {
      sandbox.fault({ kind: 'reset', when: 'after' }, { ...submissions, times: 3 });
      await until(marked('w', upTo(3)));
      await wait(upTo(20));
    },
  ];
  await moments[upTo(moments.length)]?.();
}
