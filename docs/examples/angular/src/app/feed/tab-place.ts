import { Cursor, type CheckpointStore } from 'canton-rx';
import { indexedDbStore } from 'canton-rx/indexeddb';

/**
 * Where this tab is, and where the browser is.
 *
 * Each tab has a feed of its own and goes on from its own place, which is gone with it. The place in IndexedDB is shared:
 * there the next tab or a reload begins. It only moves forward, whichever tab saves. A tab that is behind takes nothing
 * from it, so that nothing is missing there.
 */
export class TabPlace implements CheckpointStore {
  readonly #shared = indexedDbStore({ database: 'explorer-places' });
  #own: Cursor | undefined;
  #isAnew = false;

  load(name: string): unknown[] | Promise<unknown> {
    if (this.#own !== undefined) return [this.#own];
    return this.#isAnew ? [] : (this.#shared.load(name) as Promise<unknown>);
  }

  async save(name: string, cursor: Cursor): Promise<void> {
    if (cursor.offset >= (this.#own?.offset ?? 0)) this.#own = cursor;
    // one tab at a time compares and saves
    await navigator.locks.request(`place of ${name}`, async () => {
      const stored: unknown = await this.#shared.load(name);
      if (this.#isAnew || !isAhead(stored, cursor)) await this.#shared.save(name, cursor);
      this.#isAnew = false;
    });
  }

  /** The ledger is not what it was: begin at its start, and overwrite what was known of the old one. */
  forget(): void {
    this.#own = undefined;
    this.#isAnew = true;
  }
}

function isAhead(stored: unknown, { offset, participantId }: Cursor): boolean {
  return Cursor.is(stored) && stored.participantId === participantId && stored.offset > offset;
}
