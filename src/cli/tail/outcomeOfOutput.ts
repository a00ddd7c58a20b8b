import { hasCode } from '../hasCode.js';
import type { Outcome } from './Outcome.js';

/** What an error of stdout means: nobody reads any more, as behind `| head -1`; or it cannot be written to, as on a full disk. */
export const outcomeOfOutput = (error: unknown): Outcome =>
  hasCode(error, 'EPIPE') ? { kind: 'closed' } : { kind: 'unwritable', error };
