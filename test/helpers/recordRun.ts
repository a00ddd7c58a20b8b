import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect } from '@jest/globals';

const root = join(import.meta.dirname, '..', '..');
const records = join(root, 'node_modules', '.cache', 'campaigns', 'runs.jsonl');

/** What a campaign or a crash test has done. `npm run guarantees` puts it into the page of the guarantees. */
export interface RecordedRun {
  readonly seed?: number;
  readonly schedules?: number;
  readonly kills?: number;
  readonly updates?: number;
  readonly faults?: number;
}

/** Adds to the records of the test file that calls it. Several processes write at the same time, a line each. */
export function recordRun(run: RecordedRun): void {
  const { testPath } = expect.getState();
  if (testPath === undefined) return;
  mkdirSync(dirname(records), { recursive: true });
  const line = { file: relative(root, testPath), at: new Date().toISOString(), ...run };
  appendFileSync(records, `${JSON.stringify(line)}\n`);
}
