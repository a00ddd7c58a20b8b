import { Cursor } from './Cursor.js';
import { undecodable } from './undecodable.js';

/** The body of a request, ready to be read. */
export function parseBody(text: string): Cursor {
  try {
    return new Cursor(JSON.parse(text));
  } catch {
    throw undecodable('the body is not valid JSON');
  }
}
