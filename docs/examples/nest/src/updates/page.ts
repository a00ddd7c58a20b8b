import type { Offset, Update } from 'canton-rx';

/** Some updates in a row, and up to where there are no others. */
export interface Page {
  readonly updates: readonly Update[];
  readonly end: Offset;
}
