import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { build } from 'esbuild';
import { Subject, type Observable } from 'rxjs';
import { phases } from './children/marks.js';
import type { Orders } from './Orders.js';

/** A process that is to be killed. */
export interface Child {
  readonly life: number;
  readonly startedAt: number;
  /** What it is doing, in the order in which it tells. */
  readonly mark$: Observable<string>;
  /** How often it has told something. */
  readonly count: (mark: string) => number;
  /** What it is doing, or was when it ended. */
  readonly phase: () => string;
  readonly signal: (name: NodeJS.Signals) => void;
  readonly isOver: () => boolean;
  /** Fulfilled when it has ended and all that it told has been read; what went wrong, if it ended by itself badly. */
  readonly over: Promise<string | undefined>;
}

/** Programs for children: bundled, since they are started hundreds of times. */
export interface Programs {
  readonly start: (name: string, orders: Orders) => Child;
  /** Removes them, and ends those that still run. */
  readonly remove: () => Promise<void>;
}

export async function programs(...names: readonly string[]): Promise<Programs> {
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
    start: (name, orders) => {
      const child = started(join(folder, `${name}.cjs`), orders);
      children.push(child);
      return child;
    },
    remove: async () => {
      // those that a test has left, for it failed
      for (const child of children) if (!child.isOver()) child.signal('SIGKILL');
      await Promise.all(children.map(({ over }) => over));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function started(program: string, orders: Orders): Child {
  const child = spawn(process.execPath, [program, JSON.stringify(orders)], { stdio: ['ignore', 'pipe', 'pipe'] });
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
  return {
    life: orders.life,
    startedAt: performance.now(),
    mark$,
    count: (mark) => counts.get(mark) ?? 0,
    phase: () => (last in phases ? phases[last as keyof typeof phases] : 'start'),
    signal: (name) => {
      child.kill(name);
    },
    isOver: () => child.exitCode !== null || child.signalCode !== null,
    over,
  };
}
