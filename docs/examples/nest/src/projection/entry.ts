import type { Work } from 'canton-rx/process';
import { changesOf, type Change } from './change.js';

/** An update, as the projection stores it. */
export interface Entry {
  readonly offset: number;
  readonly updateId: string | null;
  readonly kind: string;
  readonly changes: readonly Change[];
}

export const entryOf = (update: Work): Entry => ({
  offset: update.offset,
  updateId: 'updateId' in update ? update.updateId : null,
  kind: update._tag,
  changes: changesOf(update),
});
