import type { FileHandle } from 'node:fs/promises';
import { Writable } from 'node:stream';
import type { Extent } from './Extent.js';
import { FileRefusedError } from './FileRefusedError.js';

/** A file that lines are written to, and what it has by now. */
export interface LineFile {
  readonly output: Writable;
  /** What has been written, not what waits. */
  readonly bytes: () => number;
  /** Of what has been written; to be called once. */
  readonly sha256: () => string;
}

/** Writes on behind what a file has. Where it is not as it was left, another process writes to it, and it ends with an error. */
export function lineFile(handle: FileHandle, path: string, { bytes: begin, hash }: Extent): LineFile {
  let bytes = begin;
  const write = async (buffer: Buffer): Promise<void> => {
    const { size } = await handle.stat();
    if (size !== bytes) throw new FileRefusedError(`${path} has changed meanwhile: does another process write to it?`);
    for (let written = 0; written < buffer.length;) {
      const { bytesWritten } = await handle.write(buffer, written, buffer.length - written, bytes + written);
      written += bytesWritten;
    }
    bytes += buffer.length;
    hash.update(buffer);
  };
  const output = new Writable({
    write(chunk: Buffer, _, done) {
      callback(write(chunk), done);
    },
    // all that waits at once: a call for each line would take longer than the ledger
    writev(chunks: readonly { chunk: unknown }[], done) {
      callback(write(Buffer.concat(chunks.map(({ chunk }) => chunk as Buffer))), done);
    },
  });
  // for good: one that comes when nobody listens any more would end the process
  output.on('error', () => undefined);
  return { output, bytes: () => bytes, sha256: () => hash.digest('hex') };
}

/** Tells a stream how it went. */
function callback(work: Promise<void>, done: (error?: Error | null) => void): void {
  work.then(() => {
    done();
  }, done);
}
