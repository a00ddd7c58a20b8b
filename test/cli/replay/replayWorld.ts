import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { type CliWorld, cliWorld } from '../cliWorld.js';
import { type CliRun } from '../runCli.js';

/** A sandbox, and the file of a replay of it. */
export interface ReplayWorld {
  readonly world: CliWorld;
  /** The path of the file. */
  readonly file: () => string;
  readonly content: () => string;
  /** 0 for a missing file. */
  readonly size: () => number;
  readonly manifestFile: () => string;
  readonly manifest: () => Readonly<Record<string, unknown>>;
  /** Marks a complete file as incomplete. */
  readonly markIncomplete: () => void;
  /** Starts `canton-rx replay` of the sandbox. */
  readonly start: (...options: readonly string[]) => CliRun;
  /** Runs `canton-rx replay` to its end. */
  readonly run: (...options: readonly string[]) => Promise<{ code: number; err: string; out: string }>;
  /** The output of `canton-rx tail` for a range. */
  readonly tailOutput: (...options: readonly string[]) => Promise<string>;
}

/** Call it once, at the top of a test file. */
export function replayWorld(): ReplayWorld {
  const world = cliWorld();
  const file = (): string => join(world.folder, 'out.ndjson');
  const manifestFile = (): string => `${file()}.replay.json`;
  const manifest = (): Readonly<Record<string, unknown>> =>
    JSON.parse(readFileSync(manifestFile(), 'utf8')) as Readonly<Record<string, unknown>>;
  const start: ReplayWorld['start'] = (...options) => world.start(['replay', '--out', file(), ...options]);
  return {
    world,
    file,
    content: () => readFileSync(file(), 'utf8'),
    size: () => statSync(file(), { throwIfNoEntry: false })?.size ?? 0,
    manifestFile,
    manifest,
    markIncomplete: () => {
      const { complete, ...rest } = manifest();
      expect(complete).toBeDefined();
      writeFileSync(manifestFile(), JSON.stringify(rest));
    },
    start,
    run: async (...options) => {
      const { code, err, out } = start(...options);
      return { code: await code, err: err.text(), out: out.text() };
    },
    tailOutput: async (...options) => {
      const { code, out } = await world.tail(...options);
      expect(code).toBe(0);
      return out.text();
    },
  };
}
