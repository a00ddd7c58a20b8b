import type { Answer } from './Answer.js';
import { textAnswer } from './textAnswer.js';

const late =
  'The server was not able to produce a timely response to your request.\r\nPlease try again in a short while!';

/** The answer of the request timeout. */
export function timeoutAnswer(): Answer {
  return textAnswer(503, late);
}
