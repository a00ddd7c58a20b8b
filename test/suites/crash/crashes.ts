import process from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import {
  debounceTime,
  filter,
  firstValueFrom,
  lastValueFrom,
  merge,
  NEVER,
  skip,
  takeUntil,
  timeout,
  timer,
} from 'rxjs';
import { effort } from '../../helpers/effort.js';
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
export interface Subject {
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

const usualMoments: readonly Moment[] = ['early', 'late', 's', 'late', 'c', 'early', 'late', 's', 'late', 'early'];

/** The most time that a process may run without a mark, in milliseconds: it may wait for another process or for updates. */
const maxSilenceMs = 800;

/** How long the last processes, which are not killed, may be idle, in milliseconds. */
const maxIdleMs = 60_000;

/**
 * Kills processes at random moments and starts others at once, while the ledger grows, until the given number has been
 * killed; then lets the last ones run to the end.
 */
export async function runWithCrashes(
  { what, processes = 1, start, moments = usualMoments, server, afterKill }: Subject,
  { grow, end }: Source,
  { kills, updates, random }: Pick<Parameters, 'kills' | 'updates' | 'random'>,
): Promise<Crashes> {
  const begunAt = performance.now();
  const phases = new Map<string, number>();
  const upTo = (most: number): number => Math.floor(random() * most);
  let life = 0;
  let killed = 0;
  let crashing = Promise.resolve();
  // an average of the processes that handle updates
  let startMs = 2_000;
  // up to twice the growth of the ledger since the last kill
  const mostUpdates = (2 * updates) / kills;

  const waitForKill = async (child: Child): Promise<void> => {
    const moment = moments[(killed - 1) % moments.length] ?? 'late';
    const marks = (letter: string) => child.mark$.pipe(filter((each) => each === letter));
    const lateMs = random() * maxSilenceMs;
    // however long it takes to start
    const silence$ = merge(
      child.mark$.pipe(debounceTime(lateMs)),
      timer(3 * startMs + lateMs).pipe(takeUntil(child.mark$)),
    );
    const isAtMark = moment !== 'early' && moment !== 'late';
    // every process is killed early enough to leave updates to the others
    const kill$ = merge<unknown[]>(
      moment === 'early' ? timer(random() * startMs * 1.5) : silence$,
      isAtMark ? marks(moment).pipe(skip(upTo(6))) : NEVER,
      marks('u').pipe(skip(upTo(mostUpdates))),
    );
    void firstValueFrom(marks('u'), { defaultValue: '' }).then((letter) => {
      if (letter === 'u') startMs += (performance.now() - child.startedAt - startMs) / 2;
    });
    await firstValueFrom(kill$, { defaultValue: 0 });
    if (!isAtMark) await wait(random() * 5);
  };
  const crashServer = async (): Promise<void> => {
    await wait(random() * 200);
    await server?.crash();
    await wait(random() * 100);
    await server?.start();
  };
  const killInTurn = async (): Promise<void> => {
    while (killed < kills) {
      const child = start((life += 1));
      killed += 1;
      await Promise.race([waitForKill(child), child.over]);
      if (child.isOver()) throw new Error(`it ended by itself: ${(await child.over) ?? 'without an error'}`);
      child.signal('SIGKILL');
      await child.over;
      phases.set(child.phase(), (phases.get(child.phase()) ?? 0) + 1);
      grow(0.75 / kills);
      if (killed % Math.ceil(kills / 6) === 0) crashing = crashing.then(crashServer);
      afterKill?.(killed);
    }
  };
  grow(0.25);
  await Promise.all(Array.from({ length: processes }, killInTurn));
  await crashing;
  grow(1);
  const last = Array.from({ length: processes }, () => start((life += 1), end()));
  const marks$ = merge(...last.map(({ mark$ }) => mark$)).pipe(timeout({ each: maxIdleMs }));
  const ends = await lastValueFrom(marks$, { defaultValue: '' }).then(
    () => Promise.all(last.map(({ over }) => over)),
    () => ['the last processes did not reach the end'],
  );
  const bad = ends.find((end) => end !== undefined);
  if (bad !== undefined) throw new Error(bad);
  const seconds = Math.round((performance.now() - begunAt) / 100) / 10;
  const hit = [...phases].map(([phase, count]) => `${phase} ${count}`).join(', ');
  print(`${what}: ${killed} kills in ${seconds} s: ${hit}`);
  return { kills: killed, phases };
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
    updates: updates === undefined ? Math.min(20_000, 400 * count) : Number(updates),
    seed: seed === undefined ? Math.trunc(Math.random() * 2 ** 31) : Number(seed),
  };
  print(`${chosen.kills} kills over ${chosen.updates} updates, seed ${chosen.seed}`);
  return { ...chosen, random: randomFrom(chosen.seed), timeoutMs: 120_000 + chosen.kills * 3_000 };
}

/** Writes to the log, without jest. */
export const print = (line: string): void => {
  process.stdout.write(`crash: ${line}\n`);
};
