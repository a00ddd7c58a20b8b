import { fork, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';

const children = new Set<ChildProcess>();

/** Starts a file of this directory in a process of its own, which ends with this one at the latest. */
export function start(file: string, argument: unknown, execArgv: readonly string[] = []): ChildProcess {
  const child = fork(join(import.meta.dirname, file), [JSON.stringify(argument)], { execArgv: [...execArgv] });
  children.add(child);
  child.once('exit', () => children.delete(child));
  return child;
}

/** The next message of a child; an error if it ends without one. */
export const heard = (child: ChildProcess): Promise<unknown> =>
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

/** Once a child has ended. */
export const ended = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve();
    else
      child.once('exit', () => {
        resolve();
      });
  });

/** Leaves nothing behind, however this process ends. */
export function endChildrenAtExit(): void {
  process.on('exit', () => {
    for (const child of children) child.kill('SIGKILL');
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(130));
}
