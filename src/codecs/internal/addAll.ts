import type * as t from 'io-ts';

/** Adds errors one by one: a call with a hundred thousand arguments overflows the stack. */
export function addAll(errors: t.Errors, more: t.Errors): void {
  for (const error of more) errors.push(error);
}
