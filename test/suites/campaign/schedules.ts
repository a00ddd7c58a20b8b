import process from 'node:process';
import type fc from 'fast-check';

/** What the environment asks for: more schedules than in CI, or those of one seed again. */
const { CANTON_RX_CAMPAIGN_RUNS: runs, CANTON_RX_CAMPAIGN_SEED: seed } = process.env;

/**
 * How many schedules to run, and from which seed. The seed is printed in any case, so that a failure can be run again:
 * `CANTON_RX_CAMPAIGN_SEED=… npm run campaign`.
 */
export function schedules(inCi: number): fc.Parameters<unknown> & { readonly seed: number; readonly numRuns: number } {
  const chosen = {
    numRuns: runs === undefined ? inCi : Number(runs),
    seed: seed === undefined ? Math.trunc(Math.random() * 2 ** 31) : Number(seed),
  };
  process.stdout.write(`campaign: ${chosen.numRuns} schedules of seed ${chosen.seed}\n`);
  return chosen;
}
