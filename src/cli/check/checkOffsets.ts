import { grouped } from '../text/grouped.js';
import type { Finding } from './Finding.js';
import { finder } from './finder.js';
import type { First, Outcome } from './First.js';
import { isUntold } from './isUntold.js';
import { troubleOfAnswer } from './troubleOfAnswer.js';
import { troubleOfError } from './troubleOfError.js';

const end = finder('ledgerEnd', 'ledger end');
const pruned = finder('pruned', 'pruned');

/** From where to where the ledger can be read. */
export function checkOffsets(first: First): readonly Finding[] {
  const { endOffset, prunedOffset } = first;
  return [
    endOffset === undefined
      ? missing(end, first.end, 'not told: feeds do without')
      : end.ok(`offset ${grouped(endOffset)}`, { offset: endOffset }),
    prunedOffset === undefined
      ? missing(pruned, first.pruned, 'not told')
      : pruned.ok(prunedText(prunedOffset), { upToInclusive: prunedOffset }),
  ];
}

const prunedText = (offset: number): string =>
  offset === 0
    ? 'never: all is there'
    : `up to offset ${grouped(offset)}: --from ${offset} is the first place to begin at`;

function missing({ open, failed }: typeof end, outcome: Outcome, untold: string): Finding {
  if ('error' in outcome) return failed(troubleOfError(outcome.error));
  if (isUntold(outcome.answer)) return open(untold);
  const trouble = troubleOfAnswer(outcome.answer) ?? { kind: 'other', text: 'the answer has no offset in it' };
  // the token has a line of its own
  return trouble.kind === 'token' ? open('not told without a good token') : failed(trouble);
}
