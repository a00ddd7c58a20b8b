import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, Socket } from 'node:net';
import process from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import { describe } from '@jest/globals';

/** A server of its own for a test: on loopback, with its data in a folder of its own. */
export interface TestServer {
  /** How a client connects; the same after a restart. */
  readonly url: string;
  /** Ends it in good order, and deletes its data. */
  stop(): Promise<void>;
  /** Kills all of it at once, as the kernel does when memory runs out; its data stay. */
  crash(): Promise<void>;
  /** Starts it again on the same data and port. */
  start(): Promise<void>;
  /** Ends it in good order and starts it again. */
  restart(): Promise<void>;
}

/** Tests that need a server: skipped where it is missing, unless CANTON_RX_SERVERS says that it must not be. */
export function describeWithServer(isThere: boolean, debianPackage: string): typeof describe.only {
  if (isThere || process.env['CANTON_RX_SERVERS'] === 'required') return describe;
  console.warn(`not run: this machine lacks a server, Debian's package ${debianPackage}`);
  return describe.skip;
}

/** The signal to all of them that are still there. */
export function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch {
      // it is over
    }
  }
}

/** Whether a process is there. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** How a program is run. */
export interface Running {
  readonly pid: number;
  readonly isOver: () => boolean;
  /** Fulfilled when it has ended. */
  readonly over: Promise<unknown>;
}

/** Under whom a program is run. */
export interface As {
  readonly uid?: number;
  readonly gid?: number;
}

/** The shell that outlives a test that is killed: its input ends then, and it ends the server and deletes what is left. */
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

/** Starts a program that ends with this process, however that ends; `folder` is deleted then. */
export async function running(
  command: readonly string[],
  { log, folder, as = {} }: { log: string; folder: string; as?: As },
): Promise<Running> {
  const shell = spawn('sh', ['-c', guard, 'sh', log, folder, ...command], {
    stdio: ['pipe', 'pipe', 'ignore'],
    ...as,
  });
  const over = once(shell, 'exit');
  const pid = await new Promise((resolve) => shell.stdout.once('data', resolve));
  // a test that forgets its server ends nevertheless
  shell.unref();
  for (const pipe of [shell.stdin, shell.stdout]) if (pipe instanceof Socket) pipe.unref();
  return { pid: Number(String(pid)), isOver: () => shell.exitCode !== null || shell.signalCode !== null, over };
}

/** Waits until something is so; that which never is so ends with the test. */
export async function until(isSo: () => boolean | Promise<boolean>, withinMs = 60_000): Promise<void> {
  const end = Date.now() + withinMs;
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error(`not so within ${withinMs} ms: ${String(isSo)}`);
    await wait(5);
  }
}

/** Whether somebody listens at a port of this machine. */
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

/** A free port below those of outgoing connections, so that it is still free when a server comes back to it. */
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
