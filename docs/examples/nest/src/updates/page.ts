import type { Offset, Update } from 'canton-rx';

/** Consecutive updates, and the offset up to which there are no others. */
export interface Page {
  readonly updates: readonly Update[];
  readonly end: Offset;
}
