/** What is logged of an error: an error of a driver may have more in it, of a row for one. */
export function factsOf(error: unknown): { readonly error?: string; readonly stack?: string | undefined } {
  return error instanceof Error ? { error: error.name, stack: error.stack } : {};
}
