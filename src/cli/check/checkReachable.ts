import type { Answer } from '../probe/Answer.js';
import { codeIn } from './codeIn.js';
import type { Finding } from './Finding.js';
import { finder } from './finder.js';
import type { First, Outcome } from './First.js';
import { troubleOfAnswer } from './troubleOfAnswer.js';
import { troubleOfError } from './troubleOfError.js';

const { ok, failed } = finder('reachable', 'reachable');

/** Whether a ledger answers, and not nobody or somebody else. */
export function checkReachable({ version, end, pruned }: First): Finding {
  const answers = [version, end, pruned].flatMap((outcome) => ('answer' in outcome ? [outcome.answer] : []));
  const [first] = answers;
  if (first === undefined) return failed(troubleOfError(errorOf(version)));
  const ours = answers.find(isOfLedger);
  if (ours !== undefined) return ok('yes', { tookMs: Math.round(ours.tookMs) });
  const trouble = troubleOfAnswer(first);
  if (trouble !== undefined && trouble.kind !== 'other') return failed(trouble);
  return failed({
    kind: 'foreign',
    text: first.status === 404 ? 'something answers, and has no ledger there (404)' : 'what answers is not a ledger',
    next: "is the path prefix of the address right? is this the JSON Ledger API's port?",
  });
}

const errorOf = (outcome: Outcome): unknown => ('error' in outcome ? outcome.error : undefined);

/** By what it has in it: a ledger's 404 has other words than that of a web server. */
function isOfLedger(answer: Answer): boolean {
  if (codeIn(answer.text) !== undefined) return true;
  try {
    const json: unknown = JSON.parse(answer.text);
    const names = typeof json === 'object' && json !== null ? Object.keys(json) : [];
    return ['version', 'offset', 'participantPrunedUpToInclusive', 'ledgerApiError'].some((name) =>
      names.includes(name),
    );
  } catch {
    // a gateway's
    return answer.status === 401 && !answer.text.trimStart().startsWith('<');
  }
}
