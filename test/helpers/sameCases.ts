import process from 'node:process';
import fc from '../../node_modules/fast-check/lib/fast-check.js';

/**
 * What tests import as fast-check, by the configuration of Jest: so only those that have random cases load it.
 *
 * The seed of all random cases. CI sets it, so that it says the same of the same code; otherwise, each run has others.
 */
const { CANTON_RX_SEED: seed } = process.env;

if (seed !== undefined) fc.configureGlobal({ seed: Number(seed) });

export * from '../../node_modules/fast-check/lib/fast-check.js';
export default fc;
