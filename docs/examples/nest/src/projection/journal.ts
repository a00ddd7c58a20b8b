import { constants, createReadStream } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import type { Entry } from './entry.js';

/** An append-only file of entries, one JSON object per line. */
export class Journal {
  private constructor(
    private readonly file: FileHandle,
    private size: number,
  ) {}

  /** Opens the file and reads its entries. Ignores a last line that a crash cut off: its update is delivered again. */
  static async open(path: string, tell: (entry: Entry) => void): Promise<Journal> {
    const file = await open(path, constants.O_RDWR | constants.O_CREAT);
    let size = 0;
    let rest = '';
    for await (const text of createReadStream(path, 'utf8')) {
      const lines = (rest + String(text)).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        tell(JSON.parse(line) as Entry);
        size += Buffer.byteLength(line) + 1;
      }
    }
    return new Journal(file, size);
  }

  /** Appends entries, and resolves when they are on the disk. The next call overwrites what a failed one has written. */
  async append(entries: readonly Entry[]): Promise<void> {
    const text = Buffer.from(entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
    await this.file.truncate(this.size);
    await this.file.write(text, 0, text.length, this.size);
    await this.file.datasync();
    this.size += text.length;
  }

  close(): Promise<void> {
    return this.file.close();
  }
}
