/** The arguments make no sense; the message says which, in one line, and never holds a secret. */
export class UsageError extends Error {
  /** The class's name. */
  override readonly name = 'UsageError' as const;
}
