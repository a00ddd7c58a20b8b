import { gapAdvice } from '../gapAdvice.js';
import { messageOf } from '../messageOf.js';
import type { Output } from '../World.js';
import type { Outcome } from './Outcome.js';
import type { Progress } from './Progress.js';

/** Says on stderr what there is to say of the end, and returns the exit code. */
export function exitCodeOf(outcome: Outcome, { cursor }: Progress, stderr: Output): number {
  const resume = cursor === undefined ? '' : `resume with --from ${cursor}\n`;
  switch (outcome.kind) {
    case 'done':
    case 'closed':
      return 0;
    case 'interrupted':
      stderr.write(resume);
      return 0;
    case 'failed':
      stderr.write(`${messageOf(outcome.error)}\n${adviceFor(outcome.error) ?? resume}`);
      return 1;
    case 'unwritable':
      // how much of it was written nobody knows
      stderr.write(`stdout cannot be written to: ${messageOf(outcome.error)}\n`);
      return 1;
  }
}

/** What to do where to resume would fail in the same way. */
function adviceFor(error: unknown): string | undefined {
  const advice = gapAdvice(error, {
    pruned: (earliest) => `--from ${earliest} goes on without it`,
    reset: 'its offsets mean something else now: begin with --from 0, or with --from end',
  });
  return advice && `${advice}\n`;
}
