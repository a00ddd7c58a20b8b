/** A file cannot be gone on with, or is not what it says; the message says why, and what to do. */
export class FileRefusedError extends Error {
  /** The class's name. */
  override readonly name = 'FileRefusedError' as const;
}
