import { UsageError } from './UsageError.js';

/** One of the values that an option may have. */
export function readOneOf<A extends string>(option: string, text: string, allowed: readonly A[]): A {
  const found = allowed.find((value) => value === text);
  if (found === undefined) throw new UsageError(`--${option} is one of ${allowed.join(', ')}, not '${text}'`);
  return found;
}
