import type { Answer } from '../http/Answer.js';
import { jsonAnswer } from '../http/jsonAnswer.js';
import { textAnswer } from '../http/textAnswer.js';
import type { Refusal } from './Refusal.js';

/** The answer of a refusal; a JSON one tells the trace of the request. */
export function refusalAnswer({ status, body }: Refusal, traceId: string): Answer {
  if (typeof body === 'string') return textAnswer(status, body);
  const traced = 'category' in body.context ? { ...body.context, tid: traceId } : body.context;
  return jsonAnswer({ ...body, traceId, context: traced }, status);
}
