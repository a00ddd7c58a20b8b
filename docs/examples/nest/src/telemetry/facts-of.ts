/** The part of an error that is logged. The error of a driver may contain more, such as the values of a row. */
export function factsOf(error: unknown): { readonly error?: string; readonly stack?: string | undefined } {
  return error instanceof Error ? { error: error.name, stack: error.stack } : {};
}
