import process from 'node:process';
import { setTimeout } from 'node:timers/promises';
import { acsDelta, createLedger } from '../../../src/index.js';
import { origin } from '../ledgerText.js';
import type { Load, Outcome } from '../Load.js';

const settleMs = 5_000;
const restMs = 30_000;

/** Many feeds of one ledger where nothing happens: the share of a processor that they take, in percent. */
export async function measure({ url, count, options }: Load): Promise<Outcome> {
  const ledger = createLedger({ baseUrl: url });
  const failures: unknown[] = [];
  for (let i = 0; i < count; i += 1) {
    ledger.updates({ beginExclusive: origin, updateFormat: acsDelta({ parties: 'any' }) }, options).subscribe({
      error: (error: unknown) => failures.push(error),
    });
  }
  await setTimeout(settleMs);
  const before = process.cpuUsage();
  const startedAt = performance.now();
  await setTimeout(restMs);
  const { user, system } = process.cpuUsage(before);
  if (failures.length > 0) throw failures[0];
  return { cost: ((user + system) / 1_000 / (performance.now() - startedAt)) * 100 };
}
