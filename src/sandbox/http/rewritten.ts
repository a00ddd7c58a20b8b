import type { FaultRewrite } from '../faults/FaultRewrite.js';
import type { Answer } from './Answer.js';
import { textAnswer } from './textAnswer.js';

/** An answer with its JSON made over. */
export function rewritten(answer: Answer, { body }: FaultRewrite): Answer {
  if (answer.contentType !== 'application/json') return answer;
  try {
    const made = body(JSON.parse(answer.body));
    const text = typeof made === 'string' ? made : (JSON.stringify(made) as string | undefined);
    if (text !== undefined) return { ...answer, body: text };
  } catch {
    // what the function threw may hold anything
  }
  return textAnswer(500, 'The sandbox could not rewrite its answer.');
}
