import process from 'node:process';

/**
 * How many cases a test tries: a sample in `npm test`, which a person waits for, and all of them in `npm run test:full`.
 * CI is between the two, a third of the way by factors, unless a test names a number for CI. Random cases are others in
 * each run, but for CI (`sameCases`). For steps between cases, too.
 */
export function effort(sample: number, full: number, ci = Math.round(Math.cbrt(sample ** 2 * full))): number {
  const chosen = process.env['CANTON_RX_TESTS'];
  if (chosen === 'full') return full;
  return chosen === 'ci' ? ci : sample;
}
