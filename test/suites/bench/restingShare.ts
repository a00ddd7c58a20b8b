import process from 'node:process';
import { setTimeout } from 'node:timers/promises';

/** Only after two waits in vain is a feed a quiet one. */
const settleMs = 15_000;
const restMs = 30_000;

/** The share of a processor that this process takes while nothing happens, in percent. */
export async function restingShare(): Promise<number> {
  await setTimeout(settleMs);
  const before = process.cpuUsage();
  const startedAt = performance.now();
  await setTimeout(restMs);
  const { user, system } = process.cpuUsage(before);
  return ((user + system) / 1_000 / (performance.now() - startedAt)) * 100;
}
