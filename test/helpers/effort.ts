import process from 'node:process';

/**
 * How many cases a test tries: a sample in `npm test`, which a person waits for, and all of them in `npm run test:full`,
 * which CI runs.
 */
export const effort = (sample: number, full: number): number =>
  process.env['CANTON_RX_TESTS'] === 'full' ? full : sample;
