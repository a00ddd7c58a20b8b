import { constants, createReadStream } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import type { Entry } from './entry.js';

/** A file of entries, one JSON object a line, to which entries are added. */
export class Journal {
  private constructor(
    private readonly file: FileHandle,
    private size: number,
  ) {}

  /** Opens it, and tells what is in it. A last line that a crash has cut off is none: its updates come again. */
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

  /** Adds entries; they are on the disk when it is over. One that failed leaves nothing that a later one does not cover. */
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
