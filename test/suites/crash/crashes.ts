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
import type { Child } from './Child.js';
import { print, type Parameters } from './parameters.js';

/** What a crash test starts. */
export interface Subject {
  /** What it is called where it is told. */
  readonly what: string;
  /** How many work at a time. */
  readonly processes?: number;
  readonly start: (life: number, end?: number) => Child;
  /** Done while the next one works. */
  readonly afterKill?: (killed: number) => unknown;
}

/** What it works on. */
export interface Source {
  /** Commits a part of the updates that it is to have in the end, so that nobody gets to the end before. */
  readonly grow: (share: number) => void;
  /** The offset at which it ends. */
  readonly end: () => number;
}

/** What was done to it. */
export interface Crashes {
  readonly kills: number;
  /** In which phases it was killed, and how often. */
  readonly phases: ReadonlyMap<string, number>;
  readonly lives: number;
}

/** The most that a process lives without telling anything, in milliseconds: it may wait for another, or for updates. */
const longestMs = 800;

/** How long those may do nothing at all that are not killed any more, in milliseconds. */
const mostIdleMs = 60_000;

/**
 * Kills processes at random moments and starts others at once, while the ledger grows, until as many have been killed as
 * are to be; then lets one work to the end.
 *
 * A third of the moments is anywhere from the start to a while after the first update; a tenth is when it saves, which takes
 * too little time to be hit by chance on every machine; the others come after a random number of updates, of twice as many as
 * the ledger has grown by since the last kill, and a moment more.
 */
export async function crashes(
  { what, processes = 1, start, afterKill }: Subject,
  { grow, end }: Source,
  { kills, updates, random }: Parameters,
): Promise<Crashes> {
  const begunAt = performance.now();
  const phases = new Map<string, number>();
  let life = 0;
  let killed = 0;
  // learned from those that tell something
  let startMs = 2_000;
  const mostUpdates = (2 * updates) / kills;

  const death = async (child: Child): Promise<void> => {
    const late = child.mark$.pipe(
      filter((letter) => letter === 'u'),
      skip(Math.floor(random() * mostUpdates)),
    );
    const [kind, earlyMs, lateMs] = [random(), random() * startMs * 1.5, random() * longestMs];
    const isAtSave = kind >= 0.33 && kind < 0.43;
    const moreMs = isAtSave ? 0 : random() * 5;
    const saves = child.mark$.pipe(filter((letter) => letter === 's'));
    // however long it takes to start
    const stands = merge(
      child.mark$.pipe(debounceTime(lateMs)),
      timer(3 * startMs + lateMs).pipe(takeUntil(child.mark$)),
    );
    // none works on alone for so long that nothing is left to the others
    const doom = merge<unknown[]>(kind < 0.33 ? timer(earlyMs) : stands, isAtSave ? saves : NEVER, late);
    void firstValueFrom(child.mark$.pipe(filter((letter) => letter === 'u')), { defaultValue: '' }).then((letter) => {
      if (letter === 'u') startMs += (performance.now() - child.startedAt - startMs) / 2;
    });
    await firstValueFrom(doom, { defaultValue: 0 });
    if (moreMs > 0) await wait(moreMs);
  };
  const oneAfterTheOther = async (): Promise<void> => {
    while (killed < kills) {
      const child = start((life += 1));
      killed += 1;
      await Promise.race([death(child), child.over]);
      if (child.isOver()) throw new Error(`it ended by itself: ${(await child.over) ?? 'as if all were done'}`);
      child.signal('SIGKILL');
      await child.over;
      phases.set(child.phase(), (phases.get(child.phase()) ?? 0) + 1);
      grow(0.75 / kills);
      afterKill?.(killed);
    }
  };
  grow(0.25);
  await Promise.all(Array.from({ length: processes }, oneAfterTheOther));
  grow(1);
  const last = Array.from({ length: processes }, () => start((life += 1), end()));
  const going$ = merge(...last.map(({ mark$ }) => mark$)).pipe(timeout({ each: mostIdleMs }));
  const ends = await lastValueFrom(going$, { defaultValue: '' }).then(
    () => Promise.all(last.map(({ over }) => over)),
    () => ['those that were left in peace did not get to the end'],
  );
  const bad = ends.find((end) => end !== undefined);
  if (bad !== undefined) throw new Error(bad);
  const seconds = Math.round((performance.now() - begunAt) / 100) / 10;
  const hit = [...phases].map(([phase, count]) => `${phase} ${count}`).join(', ');
  print(`${what}: ${killed} kills in ${seconds} s: ${hit}`);
  return { kills: killed, phases, lives: life };
}
