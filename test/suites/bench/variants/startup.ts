import type { Outcome } from '../Load.js';

/** The time to import the library. */
export async function importCore(): Promise<Outcome> {
  const startedAt = performance.now();
  await import('../../../../src/index.js');
  return { cost: performance.now() - startedAt };
}

/** The time to import the library's dependencies. */
export async function importPackages(): Promise<Outcome> {
  const startedAt = performance.now();
  await Promise.all([import('rxjs'), import('ky'), import('io-ts'), import('fp-ts')]);
  return { cost: performance.now() - startedAt };
}
