import { CursorError } from '../errors/process.js';

/**
 * What a store knows of the rows of its cursors while it runs. A row that was removed, as by `DROP TABLE` or `TRUNCATE`, looks like that
 * of a new processor, which would handle every update again. A reset keeps the row, whose fencing token only grows.
 */
export class CursorRows {
  /** The fencing tokens of the names that are held. */
  readonly #held = new Map<string, bigint>();
  /** The fencing tokens under which the cursors were last found or saved. */
  readonly #known = new Map<string, bigint>();

  /** Notes that a name is held. */
  hold(name: string, fence: string): void {
    this.#held.set(name, BigInt(fence));
  }

  /** Notes that a name is no longer held. */
  release(name: string): void {
    this.#held.delete(name);
  }

  /** Notes that the row of a name has a cursor. */
  note(name: string): void {
    const fence = this.#held.get(name);
    if (fence !== undefined) this.#known.set(name, fence);
  }

  /** Throws a {@link CursorError}, once, for a name that is held without a cursor, if its row had one before and was removed. */
  checkMissing(name: string, table: string): void {
    const [fence, known] = [this.#held.get(name), this.#known.get(name)];
    if (fence === undefined || known === undefined) return;
    this.#known.delete(name);
    if (fence > known) return;
    throw new CursorError(
      'conflict',
      name,
      `its row was removed from ${table} while it ran`,
      'restore the row; or start it again, and it begins where its request says and handles the updates from there again',
    );
  }
}
