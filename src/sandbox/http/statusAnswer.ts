import type { FaultStatus } from '../faults/FaultStatus.js';
import type { Answer } from './Answer.js';
import { jsonAnswer } from './jsonAnswer.js';
import { textAnswer } from './textAnswer.js';

/** The answer that a fault asks for, to a request or to an upgrade. */
export function statusAnswer({ status, body, contentType, headers = {} }: Omit<FaultStatus, 'kind'>): Answer {
  if (body === undefined) return { status, body: '', headers, ...(contentType !== undefined && { contentType }) };
  const answer = typeof body === 'string' ? textAnswer(status, body) : jsonAnswer(body, status);
  return { ...answer, headers, ...(contentType !== undefined && { contentType }) };
}
