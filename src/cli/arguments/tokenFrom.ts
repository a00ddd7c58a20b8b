import { readFileSync } from 'node:fs';
import { types } from 'node:util';
import { UsageError } from './UsageError.js';

/**
 * What provides the token: a file, read anew for every request because tokens are replaced while a feed goes on; or the
 * environment. Throws a {@link UsageError} where there is no token now, so that nobody waits for one that never comes.
 */
export function tokenFrom(file: string | undefined, value: string | undefined): (() => string) | undefined {
  const provider = file === undefined ? fromValue(value) : () => checked(readFileSync(file, 'utf8'), file);
  try {
    provider?.();
    return provider;
  } catch (error) {
    throw new UsageError(reasonOf(error));
  }
}

const fromValue = (value: string | undefined): (() => string) | undefined =>
  value === undefined || value === '' ? undefined : () => checked(value, 'CANTON_RX_LEDGER_TOKEN');

/** A token goes into a header: another character would be an error there, and one that shows it. */
function checked(text: string, source: string): string {
  const token = text.trim();
  if (/^bearer\s/i.test(token)) throw new Error(`${source} is not a token alone: leave out "Bearer "`);
  if (!/^[\x21-\x7e]+$/.test(token)) throw new Error(`${source} has no token in it`);
  return token;
}

/** Of the system's words, those before the name of the file: whoever mixes up the options gives the token for it. */
function reasonOf(error: unknown): string {
  if (!types.isNativeError(error)) return 'there is no token';
  const [reason = ''] = error.message.split(', ');
  return 'syscall' in error ? `the file that --token-file names cannot be read: ${reason}` : error.message;
}
