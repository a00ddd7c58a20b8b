import type { Outcome } from '../Load.js';

/** How long it takes to import the library. */
export async function measure(): Promise<Outcome> {
  const startedAt = performance.now();
  await import('../../../../src/index.js');
  return { cost: performance.now() - startedAt };
}
