import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { build } from 'esbuild';
import { type Observable, Subject } from 'rxjs';
import { phases } from './children/marks.js';

/** A process that will be killed. */
export interface Child {
  readonly life: number;
  readonly startedAt: number;
  /** The marks of its phases, in order. */
  readonly mark$: Observable<string>;
  /** How often it has written a mark. */
  readonly count: (mark: string) => number;
  /** Its current phase, or the last one. */
  readonly phase: () => string;
  readonly signal: (name: NodeJS.Signals) => void;
  /** Suspends it, and resolves with its phase when its open queries are answered and its marks are read. */
  readonly suspend: () => Promise<string>;
  readonly isOver: () => boolean;
  /** Resolves when it has ended and its output has been read, with the failure, if it failed by itself. */
  readonly over: Promise<string | undefined>;
}

/** The programs of children, bundled, since they are started hundreds of times. */
export interface Programs {
  /** Starts a program, with the words before its command that run it elsewhere. */
  readonly start: (name: string, orders: Orders, elsewhere?: readonly string[]) => Child;
  /** Removes the programs, and ends the children that still run. */
  readonly remove: () => Promise<void>;
}

export async function bundlePrograms(...names: readonly string[]): Promise<Programs> {
  const folder = await mkdtemp(join(tmpdir(), 'canton-rx-crash-'));
  await build({
    entryPoints: names.map((name) => join(import.meta.dirname, 'children', `${name}.ts`)),
    outdir: folder,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    outExtension: { '.js': '.cjs' },
    external: ['pg-native'],
    logLevel: 'error',
  });
  const children: Child[] = [];
  return {
    start: (name, orders, elsewhere = []) => {
      const child = startChild([...elsewhere, process.execPath, join(folder, `${name}.cjs`)], orders);
      children.push(child);
      return child;
    },
    remove: async () => {
      // a failed test leaves children
      for (const child of children) if (!child.isOver()) child.signal('SIGKILL');
      await Promise.all(children.map(({ over }) => over));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function startChild([program = '', ...words]: readonly string[], orders: Orders): Child {
  const child = spawn(program, [...words, JSON.stringify(orders)], { stdio: ['ignore', 'pipe', 'pipe'] });
  const mark$ = new Subject<string>();
  const counts = new Map<string, number>();
  let last = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    for (const letter of text) {
      counts.set(letter, (counts.get(letter) ?? 0) + 1);
      last = letter;
      mark$.next(letter);
    }
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const over = once(child, 'close').then(([code, signal]: unknown[]) => {
    mark$.complete();
    return code === 0 || signal === 'SIGKILL' ? undefined : `life ${orders.life}: ${String(code ?? signal)} ${errors}`;
  });
  const phase = (): string => (last in phases ? phases[last as keyof typeof phases] : 'start');
  return {
    life: orders.life,
    startedAt: performance.now(),
    mark$,
    count: (mark) => counts.get(mark) ?? 0,
    phase,
    signal: (name) => {
      child.kill(name);
    },
    suspend: async () => {
      child.kill('SIGSTOP');
      await setTimeout(50);
      // on a busy machine, this timer may be late and its callback comes before the marks: they are read before an immediate
      await setImmediate();
      return phase();
    },
    isOver: () => child.exitCode !== null || child.signalCode !== null,
    over,
  };
}

/** The arguments of a child. */
export interface Orders {
  readonly ledgerUrl: string;
  /** A database, a server, or a folder. */
  readonly storeUrl: string;
  /** A database beside the server from which the child reads. */
  readonly databaseUrl?: string;
  /** The file in which a handler notes each update. */
  readonly notes?: string | undefined;
  /** The number of this start. */
  readonly life: number;
  /** The offset at which to end; without it, the child runs until it is killed. */
  readonly end?: number | undefined;
  /** The last offset, which is left to the child that is not killed. */
  readonly last?: number;
  readonly commitEvery: number;
  /** How often a standby tries to take over, in milliseconds. */
  readonly pollMs?: number;
  /** How long a request may take, in milliseconds. */
  readonly requestTimeoutMs?: number;
  /** The number of connections to the database. With one, a leader renews its lease only between transactions. */
  readonly connections?: number;
  /** The statement of each transaction; `$1` is the number of this start. */
  readonly sql?: string;
  /** The parties of which the child selects some. */
  readonly parties?: readonly string[];
  /** The seed of what the child chooses. */
  readonly seed?: number;
  /** The party whose commands the child submits. */
  readonly party?: string;
}
