import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.js';
import { root } from './project.js';

const bin = join(root, 'dist', 'cli', 'main.js');

let sandbox: Sandbox;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'canton-rx-'));
  sandbox = await startSandbox();
  sandbox.generate(20_000);
});
afterAll(async () => {
  await sandbox.close();
  rmSync(folder, { recursive: true });
});

const size = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

/** Runs the command, and kills it when the file has grown by a number of bytes. */
const runLife = async (args: readonly string[], file: string, growth: number): Promise<number | null> => {
  const child = spawn(process.execPath, [bin, ...args], { stdio: 'ignore' });
  const over = once(child, 'close') as Promise<[number | null]>;
  const killAt = size(file) + growth;
  while (child.exitCode === null && child.signalCode === null) {
    if (size(file) >= killAt) child.kill('SIGKILL');
    await wait(1);
  }
  const [code] = await over;
  return code;
};

describe('canton-rx replay, killed at any moment', () => {
  it('writes the same file as without a kill', async () => {
    const end = String(sandbox.ledgerEnd);
    const [whole, killed] = [join(folder, 'whole.ndjson'), join(folder, 'killed.ndjson')];
    const args = (file: string): readonly string[] => ['replay', '--ledger', sandbox.url, '--to', end, '--out', file];
    expect(await runLife(args(whole), whole, Infinity)).toBe(0);
    let kills = 0;
    // the first is killed as soon as it has written something, whatever the machine; the others where they happen to be
    for (let growth = 1; ; growth = Math.floor(Math.random() * size(whole) * 0.2)) {
      const faults = [{ kind: 'reset' }, { kind: 'truncate', bytes: 9_999 }] as const;
      sandbox.fault(faults[kills % 2] ?? faults[0], { path: /updates/, after: kills });
      const code = await runLife(args(killed), killed, growth);
      if (code === 0) break;
      expect(code).toBeNull();
      kills += 1;
    }

    console.log(`killed ${kills} times on ${size(whole)} bytes`);
    expect(kills).toBeGreaterThan(0);
    expect(readFileSync(killed).equals(readFileSync(whole))).toBe(true);
    const account = (file: string): unknown => JSON.parse(readFileSync(`${file}.replay.json`, 'utf8'));
    expect(account(killed)).toStrictEqual(account(whole));
  });
});
