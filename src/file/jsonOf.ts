import { CursorError } from '../errors/CursorError.js';

/** What the text of a file says. It errors with a `CursorError` where that is not JSON; what stands there is not quoted. */
export function jsonOf(text: string, file: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new CursorError('unreadable', name, `${file} is not JSON`);
  }
}
