import { CursorError } from '../errors/process.js';

/** SQL: the first fencing token of a row. It is random, so that a row which replaces another one does not continue its tokens. */
export const firstFence = '1 + floor(random() * 1000000000)::bigint';

/** By how much a fencing token may have grown since a row was read. Each holder of a name, and each reset, adds one. */
const maxGrowth = 100_000n;

/**
 * The rows of cursors that a store has read. A row that was removed while processors run, as by `DROP TABLE` or `TRUNCATE`, looks like
 * that of a new processor, which would handle every update again. A reset keeps the row, and its fencing token.
 */
export class CursorRows {
  /** The fencing tokens of the rows that were read last, by name. One without a cursor may get one from another process. */
  readonly #known = new Map<string, bigint>();

  constructor(private readonly table: string) {}

  /**
   * Notes a row that was read.
   *
   * @throws CursorError, once, if it has no cursor and is another row than the one before
   */
  read(name: string, fence: string | undefined, hasCursor: boolean): void {
    const known = this.#known.get(name);
    if (fence === undefined) this.#known.delete(name);
    else this.#known.set(name, BigInt(fence));
    if (hasCursor || known === undefined) return;
    const grownBy = fence === undefined ? -1n : BigInt(fence) - known;
    if (grownBy >= 0n && grownBy <= maxGrowth) return;
    throw new CursorError(
      'conflict',
      name,
      `its row was removed from ${this.table} while it ran`,
      'restore the row; or start it again, and it begins where its request says and handles the updates from there again',
    );
  }

  /** Forgets a row that still exists, and is not read any more: whoever removes it from now on wants to start over. */
  released(name: string, fence: string): void {
    if (this.#known.get(name) === BigInt(fence)) this.#known.delete(name);
  }
}
