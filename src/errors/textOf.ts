/**
 * The text of what a function of the caller has thrown, which may be any value: the message of an error, which need not be a text,
 * or the value. Does not throw.
 */
export function textOf(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown);
  } catch {
    return 'it has no text';
  }
}

/**
 * Whether a value has the form of a code of the ledger or of the system, not of text, a token or a key: a program may use any
 * value as the code. Those of TLS alerts are the longest.
 */
export const isCode = (u: unknown): u is string => typeof u === 'string' && /^[A-Z][A-Z0-9_]{1,79}$/.test(u);
