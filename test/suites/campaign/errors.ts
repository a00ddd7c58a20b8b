/** Whether a feed has repeated what failed for at least some time, in milliseconds. */
export const hasFailedFor = (error: unknown, ms: number): boolean =>
  error instanceof Error && 'retried' in error && Number(Reflect.get(Object(error.retried), 'forMs')) >= ms;

/** Whether an error has these fields. */
export const hasFacts = (error: unknown, facts: Readonly<Record<string, unknown>>): boolean =>
  typeof error === 'object' &&
  error !== null &&
  Object.entries(facts).every(([key, value]) => Reflect.get(error, key) === value);

/** An error in one line. */
export const describeError = (error: unknown): string =>
  error instanceof Error ? `${error.name}: ${error.message.replaceAll('\n', ', ')}` : 'nothing';
