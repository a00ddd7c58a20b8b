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
