import { gapAdvice } from '../gapAdvice.js';
import { messageOf } from '../messageOf.js';
import { grouped } from '../text/grouped.js';
import type { Output } from '../World.js';
import type { Ended } from './Ended.js';
import { FileRefusedError } from './FileRefusedError.js';
import { sizeText } from './sizeText.js';

/** What a shell says of a process that Ctrl-C has ended: a file that is not complete must not look like one that is. */
const interrupted = 130;

/** What was left. */
export interface Left {
  readonly path: string;
  /** Whether something was to be written to it. */
  readonly isBegun: boolean;
}

/** Says on stderr what there is to say of the end, and returns the exit code. */
export function exitCodeOf(ended: Ended, { path, isBegun }: Left, stderr: Output): number {
  const goOn = isBegun ? `the same command goes on where ${path} ends\n` : '';
  switch (ended.kind) {
    case 'complete': {
      const { from, to, complete } = ended.account;
      const { updates = 0, bytes = 0 } = complete ?? {};
      stderr.write(`complete: ${grouped(updates)} updates after ${from} up to ${to}, ${sizeText(bytes)}: ${path}\n`);
      return 0;
    }
    case 'interrupted':
      stderr.write(`interrupted\n${goOn}`);
      return interrupted;
    case 'failed':
      stderr.write(`${messageOf(ended.error)}\n${adviceFor(ended.error) ?? goOn}`);
      return 1;
  }
}

/** What to do where the same command does not go on. */
function adviceFor(error: unknown): string | undefined {
  // it says so itself
  if (error instanceof FileRefusedError) return '';
  const advice = gapAdvice(error, {
    pruned: (earliest) => `another file with --from ${earliest} goes on without it`,
    reset: 'the offsets of the file mean nothing there any more: choose another file',
  });
  return advice && `${advice}\n`;
}
