import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, Socket } from 'node:net';
import process from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';

/** A server process for a test, on loopback, with its data in a temporary folder. */
export interface TestServer {
  /** The URL for clients, which stays the same after a restart. */
  readonly url: string;
  /** Shuts the server down and deletes its data. */
  stop(): Promise<void>;
  /** Kills all its processes at once, as the kernel does when memory runs out. The data stay. */
  crash(): Promise<void>;
  /** Starts the server again, with the same data and port. */
  start(): Promise<void>;
  /** Shuts the server down and starts it again. */
  restart(): Promise<void>;
}

/** Sends a signal to the processes that still run. */
export function sendSignal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch {
      // the process has exited
    }
  }
}

/** Whether a process runs. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** A process that runs. */
export interface RunningProcess {
  readonly pid: number;
  readonly hasExited: () => boolean;
  /** Resolves when it has exited. */
  readonly exited: Promise<unknown>;
}

/** The user of a process. */
export interface ProcessUser {
  readonly uid?: number;
  readonly gid?: number;
}

/** A shell that outlives a killed test. Its input ends then, so it kills the server and deletes the folder. */
export const guard = `
  trap '' INT TERM HUP
  exec 3<&0 2>/dev/null
  log=$1; folder=$2; shift 2
  "$@" </dev/null >>"$log" 2>&1 3<&- &
  pid=$!
  { read -r _ <&3; : >"$folder/orphan"; kill -KILL $pid; } >/dev/null 2>&1 &
  echo $pid
  wait $pid
  kill -KILL $!
  if [ -e "$folder/orphan" ]; then rm -rf "$folder"; fi
`;

/** Starts a program that is killed when this process ends in any way. `folder` is deleted then. */
export async function startProcess(
  command: readonly string[],
  { log, folder, user = {} }: { log: string; folder: string; user?: ProcessUser },
): Promise<RunningProcess> {
  const shell = spawn('sh', ['-c', guard, 'sh', log, folder, ...command], {
    stdio: ['pipe', 'pipe', 'ignore'],
    ...user,
  });
  const over = once(shell, 'exit');
  const pid = await new Promise((resolve) => shell.stdout.once('data', resolve));
  // a test that does not stop its server ends all the same
  shell.unref();
  for (const pipe of [shell.stdin, shell.stdout]) if (pipe instanceof Socket) pipe.unref();
  return {
    pid: Number(String(pid)),
    hasExited: () => shell.exitCode !== null || shell.signalCode !== null,
    exited: over,
  };
}

/** Whether a server listens on a port of this machine. */
export const isListening = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => {
      resolve(false);
    });
  });

/** Finds a free port below those of outgoing connections, so that it stays free while a server restarts. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => {
        resolve(false);
      });
      server.listen(port, '127.0.0.1', () => {
        resolve(true);
      });
    });
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}

/** Waits until a condition holds, and fails if it does not within the time limit. */
export async function until(condition: () => boolean | Promise<boolean>, withinMs = 150_000): Promise<void> {
  const end = Date.now() + withinMs;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`the condition does not hold after ${withinMs} ms: ${String(condition)}`);
    await wait(5);
  }
}
