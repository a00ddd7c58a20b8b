import process from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import {
  debounce,
  filter,
  firstValueFrom,
  lastValueFrom,
  map,
  merge,
  NEVER,
  race,
  skip,
  Subject,
  take,
  takeUntil,
  timeout,
  timer,
} from 'rxjs';
import { effort } from '../../helpers/effort.js';
import { recordRun } from '../../helpers/recordRun.js';
import { randomFrom } from '../campaign/runs.js';
import type { TestServer } from '../../helpers/servers.js';
import type { Child } from './Child.js';
import type { Mark } from './children/marks.js';

/**
 * When a process is killed: between its start and some time after its first update; after a random number of updates; or at a
 * mark, for what takes too little time to be hit by chance on every machine.
 */
type Moment = 'early' | 'late' | Mark;

/** The processes of a crash test. */
export interface CrashSubject {
  /** The name in the log. */
  readonly what: string;
  /** How many run at a time. */
  readonly processes?: number;
  readonly start: (life: number, end?: number) => Child;
  /** The moments of the kills, in turn. */
  readonly moments?: readonly Moment[];
  /** A server that is killed, too, while the next process runs: about six times. */
  readonly server?: Pick<TestServer, 'crash' | 'start'>;
  /** Called while the next one runs. */
  readonly afterKill?: (killed: number) => unknown;
}

/** The updates to process. */
export interface Source {
  /** Commits a share of all updates, so that no process reaches the end early. */
  readonly grow: (share: number) => void;
  /** The last offset. */
  readonly end: () => number;
}

/** The result of a crash test. */
export interface Crashes {
  readonly kills: number;
  /** How often processes were killed in each phase. */
  readonly phases: ReadonlyMap<string, number>;
}

const usualMoments: readonly Moment[] = ['early', 's', 'late', 'c', 'late', 'early', 's', 'late', 'c', 'late'];

/** The most time that no process may write a mark, in milliseconds: it may wait for updates. */
const maxSilenceMs = 800;

/** How much longer one may be silent that has handled nothing yet: it may wait for an answer of the ledger. */
const maxSilenceAtStartMs = 2_000;

/** How long the last processes, which are not killed, may be idle, in milliseconds. */
const maxIdleMs = 60_000;

/**
 * Kills processes at random moments and starts others at once, while the ledger grows, until the given number has been
 * killed; then lets the last ones run to the end. Of several processes, the one that works is killed, while the others wait
 * for its name.
 */
export async function runWithCrashes(
  { what, processes = 1, start, moments = usualMoments, server, afterKill }: CrashSubject,
  { grow, end }: Source,
  { kills, updates, random }: Pick<Parameters, 'kills' | 'updates' | 'random'>,
): Promise<Crashes> {
  const begunAt = performance.now();
  const phases = new Map<string, number>();
  const running = new Set<Child>();
  const marks$ = new Subject<{ readonly child: Child; readonly mark: string }>();
  const upTo = (most: number): number => Math.floor(random() * most);
  let life = 0;
  let working: Child | undefined;
  let hasWorked = false;
  let crashing = Promise.resolve();
  // an average of the time until the first mark
  let startMs = 1_000;
  // up to twice the growth of the ledger since the last kill
  const mostUpdates = (2 * updates) / kills;

  const add = (): void => {
    const child = start((life += 1));
    running.add(child);
    child.mark$.pipe(take(1)).subscribe(() => {
      startMs += (performance.now() - child.startedAt - startMs) / 2;
    });
    // those that wait write no other mark than that of the name
    child.mark$.pipe(filter((mark) => mark !== 'h')).subscribe((mark) => {
      working = child;
      hasWorked ||= mark === 'u';
      marks$.next({ child, mark });
    });
  };
  /** Resolves at the moment to kill a process; to the process, if it is one that wrote a mark. */
  const waitFor = async (moment: Moment): Promise<Child | undefined> => {
    const marked = (letter: string, before: number) =>
      marks$.pipe(
        filter(({ mark }) => mark === letter),
        skip(before),
        map(({ child }) => child),
      );
    const lateMs = random() * maxSilenceMs;
    // however long it takes to start
    const silence$ = merge(
      marks$.pipe(debounce(() => timer(lateMs + (hasWorked ? 0 : maxSilenceAtStartMs)))),
      timer(4 * startMs + lateMs).pipe(takeUntil(marks$)),
    ).pipe(map(() => working));
    const early$ = timer(random() * startMs * 2).pipe(map(() => [...running].at(-1)));
    const isAtMark = moment !== 'early' && moment !== 'late';
    const child = await firstValueFrom(
      race(
        moment === 'early' ? early$ : silence$,
        isAtMark ? marked(moment, upTo(6)) : NEVER,
        // every process is killed early enough to leave updates to the others
        marked('u', upTo(mostUpdates)),
      ),
    );
    if (!isAtMark) await wait(random() * 5);
    return child;
  };
  const crashServer = async (): Promise<void> => {
    await wait(random() * 200);
    await server?.crash();
    await wait(random() * 100);
    await server?.start();
  };

  for (let n = 0; n < processes; n += 1) add();
  grow(0.25);
  for (let killed = 1; killed <= kills; killed += 1) {
    const child = (await waitFor(moments[killed % moments.length] ?? 'late')) ?? [...running][upTo(processes)];
    const ended = [...running].find((each) => each.isOver());
    if (ended !== undefined) throw new Error(`it ended by itself: ${(await ended.over) ?? 'without an error'}`);
    if (child === undefined) throw new Error('no process runs');
    child.signal('SIGKILL');
    await child.over;
    running.delete(child);
    if (working === child) working = undefined;
    hasWorked = false;
    phases.set(child.phase(), (phases.get(child.phase()) ?? 0) + 1);
    grow(0.75 / kills);
    add();
    if (killed % Math.ceil(kills / 6) === 0) crashing = crashing.then(crashServer);
    await afterKill?.(killed);
  }
  await crashing;
  for (const child of running) child.signal('SIGKILL');
  await Promise.all([...running].map(({ over }) => over));
  grow(1);
  const last = Array.from({ length: processes }, () => start((life += 1), end()));
  const lastMarks$ = merge(...last.map(({ mark$ }) => mark$)).pipe(timeout({ each: maxIdleMs }));
  const ends = await lastValueFrom(lastMarks$, { defaultValue: '' }).then(
    () => Promise.all(last.map(({ over }) => over)),
    () => ['the last processes did not reach the end'],
  );
  const bad = ends.find((end) => end !== undefined);
  if (bad !== undefined) throw new Error(bad);
  const seconds = Math.round((performance.now() - begunAt) / 100) / 10;
  const hit = [...phases].map(([phase, count]) => `${phase} ${count}`).join(', ');
  print(`${what}: ${kills} kills in ${seconds} s: ${hit}`);
  return { kills, phases };
}

const { CANTON_RX_CRASH_KILLS: kills, CANTON_RX_CRASH_UPDATES: updates, CANTON_RX_CRASH_SEED: seed } = process.env;

/** The extent of a crash test. */
export interface Parameters {
  readonly kills: number;
  readonly updates: number;
  readonly seed: number;
  readonly random: () => number;
  readonly timeoutMs: number;
}

/**
 * How many processes are killed (fewer in CI), over how many updates, and the seed. Environment variables override them:
 * `CANTON_RX_CRASH_KILLS=500 npm run crash`. The seed determines the traffic, the faults and the moments, but the progress of a
 * process by then depends on the machine.
 */
export function parameters(allKills: number, killsInCi: number): Parameters {
  const count = kills === undefined ? effort(allKills, allKills, killsInCi) : Number(kills);
  const chosen = {
    kills: count,
    updates: updates === undefined ? Math.min(20_000, 250 * count) : Number(updates),
    seed: chooseSeed(),
  };
  print(`${chosen.kills} kills over ${chosen.updates} updates, seed ${chosen.seed}`);
  recordRun(chosen);
  return { ...chosen, random: randomFrom(chosen.seed), timeoutMs: 120_000 + chosen.kills * 3_000 };
}

/** Returns the seed of `CANTON_RX_CRASH_SEED`, or another one each time. */
export const chooseSeed = (): number => (seed === undefined ? Math.trunc(Math.random() * 2 ** 31) : Number(seed));

/** Writes to the log, without jest. */
export const print = (line: string): void => {
  process.stdout.write(`crash: ${line}\n`);
};
