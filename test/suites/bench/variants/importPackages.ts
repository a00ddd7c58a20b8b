import type { Outcome } from '../Load.js';

/** How long it takes to import what the library imports. */
export async function measure(): Promise<Outcome> {
  const startedAt = performance.now();
  await Promise.all([import('rxjs'), import('ky'), import('io-ts'), import('fp-ts')]);
  return { cost: performance.now() - startedAt };
}
