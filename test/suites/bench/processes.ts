import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import type { Load, Outcome } from './Load.js';
import type { VariantName } from './variant.js';

/** A variant and its load. */
export interface Job {
  readonly variant: VariantName;
  readonly load: Load;
}

/** Measures a variant once, in a process of its own. */
export async function run(job: Job, execArgv: readonly string[] = []): Promise<Outcome> {
  const child = start('variant.js', job, execArgv);
  try {
    return (await nextMessage(child)) as Outcome;
  } catch (error) {
    throw new Error(`${job.variant} was not measured`, { cause: error });
  } finally {
    await exited(child);
  }
}

/** The outcomes of each job, one for each set. */
export type SideBySide<K extends string> = Readonly<Record<K, readonly Outcome[]>>;

/** Measures jobs against each other: in each set one after the other, in every second set in reverse order. */
export async function sideBySide<K extends string>(
  sets: number,
  jobs: Readonly<Record<K, Job>>,
  execArgv: readonly string[] = [],
): Promise<SideBySide<K>> {
  const outcomes = Object.fromEntries(Object.keys(jobs).map((name) => [name, []])) as unknown as Record<K, Outcome[]>;
  const names = Object.keys(jobs) as K[];
  for (let set = 0; set < sets; set += 1) {
    for (const name of set % 2 === 0 ? names : names.toReversed()) outcomes[name].push(await run(jobs[name], execArgv));
  }
  return outcomes;
}

/** The cost of one job over that of another, for each set. */
export const costRatios = (ours: readonly Outcome[], over: readonly Outcome[]): readonly number[] =>
  ours.map(({ cost }, set) => cost / (over[set]?.cost ?? NaN));

/** How many times faster one job is than another, for each set. */
export const speedRatios = (ours: readonly Outcome[], over: readonly Outcome[]): readonly number[] =>
  costRatios(over, ours);

const children = new Set<ChildProcess>();

/** Starts a file of this directory in a process of its own. */
export function start(file: string, argument: unknown, execArgv: readonly string[] = []): ChildProcess {
  const child = fork(join(import.meta.dirname, file), [JSON.stringify(argument)], { execArgv: [...execArgv] });
  children.add(child);
  child.once('exit', () => children.delete(child));
  return child;
}

/** The next message of a child. Rejects if the child ends without one. */
export const nextMessage = (child: ChildProcess): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const onExit = (code: number | null): void => {
      reject(new Error(`a process ended with ${String(code)}`));
    };
    child.once('exit', onExit);
    child.once('message', (message) => {
      child.off('exit', onExit);
      resolve(message);
    });
  });

/** Resolves when a child has ended. */
export const exited = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve();
    else
      child.once('exit', () => {
        resolve();
      });
  });

/** Ends the children with this process, however it ends. */
export function endChildrenAtExit(): void {
  process.on('exit', () => {
    for (const child of children) child.kill('SIGKILL');
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(130));
}
