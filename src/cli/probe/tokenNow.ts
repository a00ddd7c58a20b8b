import type { Connection } from '../arguments/Connection.js';
import { AskError } from './AskError.js';

/** The token as it is now; its file may be gone since the arguments were read. */
export function tokenNow({ token }: Connection): string | undefined {
  try {
    return token?.();
  } catch {
    throw new AskError('NO_TOKEN', false);
  }
}
