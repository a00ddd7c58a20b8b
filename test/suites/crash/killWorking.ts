import { setTimeout as wait } from 'node:timers/promises';
import { debounce, filter, firstValueFrom, map, merge, race, skip, Subject, timer } from 'rxjs';
import type { Child } from './Child.js';
import type { Mark } from './children/marks.js';
import { type Parameters, print, type Source } from './crashes.js';

/** The processes of one name, of which one works. */
export interface Competitors {
  /** The name in the log. */
  readonly what: string;
  /** How many run at a time. Those that wait have started, so that a kill costs no start of a process. */
  readonly processes: number;
  readonly start: (life: number) => Child;
  /** Called before the next one goes on. */
  readonly afterKill: (killed: number) => unknown;
  /** Kills the database and starts it again. Every tenth kill of a process is preceded by one. */
  readonly killDatabase: () => Promise<unknown>;
}

/** How often processes, and the database, were killed in each phase. */
export interface Killed {
  readonly kills: number;
  readonly databaseKills: number;
  readonly phases: ReadonlyMap<string, number>;
}

/** The moments of kills: so many marks of a kind after the process before was killed. */
const moments: readonly (readonly [mark: Mark, most: number])[] = [
  ['l', 1],
  ['p', 3],
  ['r', 25],
  ['r', 25],
  ['u', 12],
  ['s', 12],
  ['c', 12],
  ['d', 12],
];

/** How long a process that has handled something may write no mark before it is killed, in milliseconds: it may be idle. */
const maxSilenceMs = 400;

/** The same for one that has not. */
const maxSilenceAtStartMs = 3_000;

/** How long any process may take until it works, in milliseconds. */
const maxStartMs = 60_000;

/**
 * Kills the process that works at random moments, while others wait for its name, until the given number has been killed; now
 * and then one that waits, and the database. Each kill is a share of the growth of the ledger.
 */
export async function killWorking(
  { what, processes, start, afterKill, killDatabase }: Competitors,
  { grow }: Source,
  { kills, random }: Parameters,
): Promise<Killed> {
  const begunAt = performance.now();
  const phases = new Map<string, number>();
  const running = new Set<Child>();
  const marks$ = new Subject<{ readonly child: Child; readonly mark: string }>();
  let [life, databaseKills] = [0, 0];
  let working: Child | undefined;
  let hasWorked = false;
  const add = (): void => {
    const child = start((life += 1));
    running.add(child);
    // those that wait write no other mark than that of the name
    child.mark$.pipe(filter((mark) => mark !== 'h')).subscribe((mark) => {
      working = child;
      hasWorked ||= mark === 'u';
      marks$.next({ child, mark });
    });
  };
  const pick = <A>(list: readonly A[]): A | undefined => list[Math.floor(random() * list.length)];
  /** The process to kill, at the moment to kill it. */
  const nextMoment = async (): Promise<Child | undefined> => {
    const [letter, most] = pick(moments) ?? ['u', 1];
    const isWaiting = random() < 0.08;
    const skipped = Math.floor(random() * most);
    const child = await firstValueFrom(
      race(
        marks$.pipe(
          filter(({ mark }) => mark === letter),
          skip(skipped),
          map(({ child }) => child),
        ),
        merge(
          marks$.pipe(debounce(() => timer(hasWorked ? maxSilenceMs : maxSilenceAtStartMs))),
          timer(maxStartMs),
        ).pipe(map(() => working)),
      ),
    );
    // some moments are between two marks
    if (random() < 0.5) await wait(random() * 4);
    return isWaiting ? pick([...running]) : child;
  };
  const count = (phase: string): void => {
    phases.set(phase, (phases.get(phase) ?? 0) + 1);
  };

  for (let n = 0; n < processes; n += 1) add();
  grow(0.25);
  for (let killed = 0; killed < kills; killed += 1) {
    if (random() < 0.1) {
      const child = await nextMoment();
      count(`the database in ${child?.phase() ?? 'start'}`);
      databaseKills += 1;
      await killDatabase();
    }
    const child = await nextMoment();
    const [ended] = [...running].filter((each) => each.isOver());
    if (ended !== undefined) throw new Error(`it ended by itself: ${(await ended.over) ?? 'without an error'}`);
    if (child === undefined) throw new Error('no process works');
    child.signal('SIGKILL');
    await child.over;
    running.delete(child);
    if (working === child) working = undefined;
    hasWorked = false;
    count(child.phase());
    grow(0.75 / kills);
    afterKill(killed + 1);
    add();
  }
  for (const child of running) child.signal('SIGKILL');
  await Promise.all([...running].map(({ over }) => over));
  const seconds = Math.round((performance.now() - begunAt) / 100) / 10;
  const hit = [...phases].map(([phase, times]) => `${phase} ${times}`).join(', ');
  print(`${what}: ${kills} kills, and ${databaseKills} of the database, in ${seconds} s: ${hit}`);
  return { kills, databaseKills, phases };
}
