import type { Answer } from './Answer.js';

/** A JSON answer, on one line. */
export function jsonAnswer(body: unknown, status = 200): Answer {
  return { status, contentType: 'application/json', body: JSON.stringify(body) };
}
