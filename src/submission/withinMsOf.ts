import { checkPositive } from '../http/checkPositive.js';
import type { ExecuteOptions } from './ExecuteOptions.js';

/** How long to find out what became of a submission, in milliseconds; 0 for not at all. Throws a TypeError for no time. */
export function withinMsOf({ recover = { withinMs: 120_000 } }: ExecuteOptions): number {
  if (recover === false) return 0;
  checkPositive({ 'recover.withinMs': recover.withinMs });
  return recover.withinMs;
}
