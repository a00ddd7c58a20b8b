import process from 'node:process';

/**
 * How many cases a test tries: a sample in `npm test`, which a person waits for, and all of them in `npm run test:full`.
 * CI takes the sample, unless a test names a number for CI. Random cases are others in each run, but for CI (`sameCases`).
 * For steps between cases, too.
 */
export function effort(sample: number, full: number, ci = sample): number {
  const chosen = process.env['CANTON_RX_TESTS'];
  if (chosen === 'full') return full;
  return chosen === 'ci' ? ci : sample;
}

/** The seed of random cases that are printed: that of CI, or another one each time. */
export const chooseSeed = (): number => Number(process.env['CANTON_RX_SEED'] ?? Math.trunc(Math.random() * 2 ** 31));
