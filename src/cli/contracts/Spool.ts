import { randomUUID } from 'node:crypto';
import { closeSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { types } from 'node:util';

/** How many characters are held in memory. */
const maxHeld = 2 ** 22;

/** How much is read from the file at once, in bytes. */
const readSize = 2 ** 20;

/**
 * Lines that are kept until it is known that none is missing. The first are held in memory, and more of them in a temporary
 * file that only its owner can read, and that has no name: it is gone with the process, however that ends.
 */
export class Spool {
  #held: string[] = [];
  #heldSize = 0;
  #file: number | undefined;
  readonly #folder: string;

  constructor(folder = tmpdir()) {
    this.#folder = folder;
  }

  /** Adds a line, which must have no line feed. */
  add(line: string): void {
    this.#held.push(line);
    this.#heldSize += line.length;
    if (this.#heldSize >= maxHeld) this.#flush();
  }

  /** Removes all lines. */
  clear(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
    this.#held = [];
    this.#heldSize = 0;
  }

  /** All lines, in their order. */
  *lines(): Generator<string, void> {
    if (this.#file !== undefined) yield* linesOf(this.#file);
    yield* this.#held;
  }

  #flush(): void {
    this.#file ??= openNameless(this.#folder);
    const bytes = Buffer.from(`${this.#held.join('\n')}\n`);
    for (let written = 0; written < bytes.length;) written += writeSync(this.#file, bytes, written);
    this.#held = [];
    this.#heldSize = 0;
  }
}

function openNameless(folder: string): number {
  const path = join(folder, `canton-rx-${randomUUID()}`);
  try {
    const file = openSync(path, 'wx+', 0o600);
    unlinkSync(path);
    return file;
  } catch (cause) {
    const [reason] = types.isNativeError(cause) ? cause.message.split(', ') : [];
    const text = `no temporary file can be created in ${folder}, the folder of TMPDIR`;
    throw new Error(`${text}: ${reason ?? 'unknown error'}`, { cause });
  }
}

function* linesOf(file: number): Generator<string, void> {
  const decoder = new StringDecoder('utf8');
  const buffer = Buffer.alloc(readSize);
  let rest = '';
  for (let position = 0; ;) {
    const count = readSync(file, buffer, 0, readSize, position);
    if (count === 0) return;
    position += count;
    const lines = `${rest}${decoder.write(buffer.subarray(0, count))}`.split('\n');
    // every line in the file ends with a line feed
    rest = lines.pop() ?? '';
    yield* lines;
  }
}
