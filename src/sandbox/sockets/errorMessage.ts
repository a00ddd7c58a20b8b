import { cantonError } from '../errors/cantonError.js';
import { Refusal } from '../errors/Refusal.js';
import { refusalAnswer } from '../errors/refusalAnswer.js';
import type { Answer } from '../http/Answer.js';

/** A refusal as the message that tells it: what is text over HTTP is an internal error here. */
export function errorMessage(refusal: Refusal, traceId: string): Answer {
  if (typeof refusal.body !== 'string') return refusalAnswer(refusal, traceId);
  const body = cantonError('LEDGER_API_INTERNAL_ERROR', { cause: refusal.body, definiteAnswer: false });
  // made by the JSON layer, which adds no context
  return refusalAnswer(new Refusal(500, { ...body, context: {} }), traceId);
}
