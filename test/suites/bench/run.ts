import { ended, heard, start } from './child.js';
import type { Load, Outcome } from './Load.js';
import type { VariantName } from './variants/index.js';

/** A variant, and what it is given to do. */
export interface Job {
  readonly variant: VariantName;
  readonly load: Load;
}

/** Measures in a process of its own, once. */
export async function run(job: Job, execArgv: readonly string[] = []): Promise<Outcome> {
  const child = start('variant.js', job, execArgv);
  try {
    return (await heard(child)) as Outcome;
  } catch (error) {
    throw new Error(`${job.variant} was not measured`, { cause: error });
  } finally {
    await ended(child);
  }
}
