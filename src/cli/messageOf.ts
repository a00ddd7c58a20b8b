import { types } from 'node:util';
import { isLedgerError } from '../errors/LedgerError.js';

/** What to tell of an error: no stack, which is of no use to whoever runs a command. */
export function messageOf(error: unknown): string {
  if (isLedgerError(error)) return error.message;
  return types.isNativeError(error) ? error.message : 'something failed that says nothing of itself';
}
