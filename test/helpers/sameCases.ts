import process from 'node:process';

/** The seed of all random cases. CI sets it, so that it says the same of the same code; otherwise, each run has others. */
const { CANTON_RX_SEED: seed } = process.env;

if (seed !== undefined) {
  const { default: fc } = await import('fast-check');
  fc.configureGlobal({ seed: Number(seed) });
}
