import { indexedDbStore } from 'canton-rx/indexeddb';
import { Cursor, type CheckpointStore } from 'canton-rx/process';

/**
 * The stored position of this tab, and of the browser.
 *
 * Each tab has its own feed, which continues from its own position; that is lost with the tab. The position in IndexedDB
 * is shared: a new tab, or a tab after a reload, starts there. It only moves forward, whichever tab saves. A tab that
 * lags does not read it, so that no updates are missing in that tab.
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
    // a lock, so that only one tab at a time compares and saves
    await navigator.locks.request(`place of ${name}`, async () => {
      const stored: unknown = await this.#shared.load(name);
      if (this.#isAnew || !isAhead(stored, cursor)) await this.#shared.save(name, cursor);
      this.#isAnew = false;
    });
  }

  /** Starts at the beginning of another ledger, and overwrites the position of the previous one. */
  forget(): void {
    this.#own = undefined;
    this.#isAnew = true;
  }
}

function isAhead(stored: unknown, { offset, participantId }: Cursor): boolean {
  return Cursor.is(stored) && stored.participantId === participantId && stored.offset > offset;
}
