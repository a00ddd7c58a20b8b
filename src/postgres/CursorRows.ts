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
  /** The fencing tokens of the rows that were read last, by name. */
  readonly #read = new Map<string, bigint>();
  /** The fencing tokens of the rows that had a cursor. */
  readonly #known = new Map<string, bigint>();

  constructor(private readonly table: string) {}

  /**
   * Notes a row that was read.
   *
   * @throws CursorError, once, if it has no cursor and is another row than the one that had one
   */
  read(name: string, fence: string | undefined, hasCursor: boolean): void {
    if (fence !== undefined) this.#read.set(name, BigInt(fence));
    if (hasCursor) {
      this.save(name);
      return;
    }
    const known = this.#known.get(name);
    if (known === undefined) return;
    this.#known.delete(name);
    const grownBy = fence === undefined ? -1n : BigInt(fence) - known;
    if (grownBy >= 0n && grownBy <= maxGrowth) return;
    throw new CursorError(
      'conflict',
      name,
      `its row was removed from ${this.table} while it ran`,
      'restore the row; or start it again, and it begins where its request says and handles the updates from there again',
    );
  }

  /** Notes that the row that was read has a cursor. */
  save(name: string): void {
    const fence = this.#read.get(name);
    if (fence !== undefined) this.#known.set(name, fence);
  }

  /** Forgets a row that still exists, and is not read any more: whoever removes it from now on wants to start over. */
  released(name: string, fence: string): void {
    if (this.#known.get(name) === BigInt(fence)) this.#known.delete(name);
  }
}
