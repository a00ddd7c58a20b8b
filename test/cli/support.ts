import { EventEmitter } from 'node:events';
import { Writable } from 'node:stream';
import { first, firstValueFrom, interval, lastValueFrom, map, ReplaySubject, timeout } from 'rxjs';
import { run } from '../../src/cli/run.js';
import type { Output, World } from '../../src/cli/World.js';

/** How long something may take that must come, on whatever machine; what comes is told at once. */
const patienceMs = 60_000;

/** What was written, and a way to wait for it. */
export interface Captured {
  readonly output: Output;
  readonly text: () => string;
  /** Resolves when what was written contains this many lines. */
  readonly lines: (count: number) => Promise<readonly string[]>;
}

export interface Capturing {
  readonly isTTY?: boolean;
  readonly columns?: number;
  /** Called for each write in place of taking it at once; the reader that is slow, or gone. */
  readonly take?: (text: string, done: (error?: Error) => void) => void;
}

/** A stream that keeps what is written to it. */
export function captured({
  isTTY = false,
  columns = 80,
  take = (_, done) => {
    done();
  },
}: Capturing = {}): Captured {
  let text = '';
  const changes = new ReplaySubject<void>(1);
  const output = new Writable({
    decodeStrings: false,
    write(chunk: Buffer | string, _, done) {
      take(String(chunk), (error) => {
        if (!error) text += String(chunk);
        changes.next();
        done(error);
      });
    },
  });
  const whole = (): readonly string[] => text.split('\n').slice(0, -1);
  return {
    output: Object.assign(output, { isTTY, columns }),
    text: () => text,
    lines: (count) =>
      firstValueFrom(
        changes.pipe(
          map(whole),
          first((lines) => lines.length >= count),
          timeout(patienceMs),
        ),
      ),
  };
}

export interface Played {
  readonly code: Promise<number>;
  readonly out: Captured;
  readonly err: Captured;
  readonly signals: EventEmitter;
}

/** Runs a command line. */
export function play(
  line: readonly string[],
  { env = {}, out = captured(), err = captured() }: { env?: World['env']; out?: Captured; err?: Captured } = {},
): Played {
  const signals = new EventEmitter();
  const code = lastValueFrom(run({ argv: line, env, stdout: out.output, stderr: err.output, signals }));
  return { code, out, err, signals };
}

/** Resolves when a condition holds, and rejects when it does not come to hold. */
export const eventually = async (holds: () => boolean): Promise<void> => {
  await firstValueFrom(interval(5).pipe(first(holds), timeout(patienceMs)));
};

/** Printed updates, read back. */
export const read = (text: string): readonly Readonly<Record<string, unknown>>[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
