import { isLedgerError } from '../errors/LedgerError.js';

/** As the ledger and the system write theirs, and no text, token or key. */
const isCode = (u: unknown): u is string => typeof u === 'string' && /^[A-Z][A-Z0-9_]{1,79}$/.test(u);

/** A name, and nothing that somebody wrote for people to read. */
const isName = (u: unknown): u is string => typeof u === 'string' && /^[A-Za-z_]\w{0,79}$/.test(u);

/**
 * What kind of error it is, for `error.type`: the ledger's code or the system's, an HTTP status, or the name of the error.
 * Never its message, which may quote what nobody is to read.
 */
export function errorTypeOf(error: unknown): string {
  if (!isLedgerError(error)) return error instanceof Error && isName(error.name) ? error.name : '_OTHER';
  const code = 'code' in error ? error.code : undefined;
  // NA is of whom keeps it to himself
  if (isCode(code) && code !== 'NA') return code;
  return error._tag === 'ApiError' ? String(error.status) : error._tag;
}
