import { EventEmitter } from 'node:events';
import { Writable } from 'node:stream';
import { first, firstValueFrom, lastValueFrom, map, ReplaySubject, timeout } from 'rxjs';
import { run } from '../../src/cli/run.js';
import type { Output, World } from '../../src/cli/World.js';

/** A command line that runs. */
export interface CliRun {
  readonly code: Promise<number>;
  readonly out: Capture;
  readonly err: Capture;
  readonly signals: EventEmitter;
}

/** Runs a command line in this process. */
export function runCli(
  line: readonly string[],
  { env = {}, out = capture(), err = capture() }: { env?: World['env']; out?: Capture; err?: Capture } = {},
): CliRun {
  const signals = new EventEmitter();
  const code = lastValueFrom(run({ argv: line, env, stdout: out.output, stderr: err.output, signals }));
  return { code, out, err, signals };
}

/** An output that keeps its text. */
export interface Capture {
  readonly output: Output;
  readonly text: () => string;
  /** Resolves when the text has so many lines. */
  readonly lines: (count: number) => Promise<readonly string[]>;
}

export interface CaptureOptions {
  readonly isTTY?: boolean;
  readonly columns?: number;
  /** Called for each write; a slow or failing reader calls back later or with an error. */
  readonly take?: (text: string, done: (error?: Error) => void) => void;
}

/** How long to wait at most, on however slow a machine. */
const patienceMs = 60_000;

export function capture({
  isTTY = false,
  columns = 80,
  take = (_, done) => {
    done();
  },
}: CaptureOptions = {}): Capture {
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
  const completeLines = (): readonly string[] => text.split('\n').slice(0, -1);
  return {
    output: Object.assign(output, { isTTY, columns }),
    text: () => text,
    lines: (count) =>
      firstValueFrom(
        changes.pipe(
          map(completeLines),
          first((lines) => lines.length >= count),
          timeout(patienceMs),
        ),
      ),
  };
}

/** Parses printed updates, one JSON object in a line. */
export const parseLines = (text: string): readonly Readonly<Record<string, unknown>>[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
