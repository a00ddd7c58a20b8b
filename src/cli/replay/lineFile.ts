import * as t from 'io-ts';
import { createHash, type Hash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { Writable } from 'node:stream';
import { hasCode } from '../World.js';
import { decodeJson } from '../probe.js';
import { FileRefusedError, type Manifest, manifestPath } from './Manifest.js';

/** A file opened for appending, and its content. */
export interface OpenLineFile {
  readonly handle: FileHandle;
  readonly extent: Extent;
  /** How many bytes of an incomplete last line were removed. */
  readonly removedBytes: number;
}

/** The complete lines of a file. */
interface Extent {
  readonly updates: number;
  readonly bytes: number;
  /** The last update; absent for an empty file. */
  readonly last: LineUpdate | undefined;
  /** The hash of these lines; later lines are added to it. */
  readonly hash: Hash;
}

/** Opens a file, creates it if it is missing, and removes an incomplete last line. */
export async function openLineFile(path: string, from: number): Promise<OpenLineFile> {
  // readable by its owner alone, since it has the contents of the ledger
  const handle = await open(path, constants.O_RDWR | constants.O_CREAT, 0o600);
  try {
    const extent = await readExtent(handle, path, from);
    const { size } = await handle.stat();
    if (size > extent.bytes) await handle.truncate(extent.bytes);
    return { handle, extent, removedBytes: size - extent.bytes };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

const lineEnd = 0x0a;

/** Reads the complete lines of a file. Each must be an update after the previous one. */
async function readExtent(handle: FileHandle, path: string, from: number): Promise<Extent> {
  const hash = createHash('sha256');
  let [updates, bytes, last] = [0, 0, { offset: from } as LineUpdate];
  let rest: Buffer[] = [];
  const addLine = (line: Buffer): void => {
    updates += 1;
    const update = decodeJson(line.toString(), LineUpdate);
    if (update === undefined || update.offset <= last.offset)
      throw new FileRefusedError(
        `line ${updates} of ${path} was not written there by replay: remove the file and ${manifestPath(path)} to start over`,
      );
    last = { offset: update.offset, updateId: update.updateId };
    bytes += line.length;
    hash.update(line);
  };
  const stream = handle.createReadStream({ start: 0, autoClose: false, highWaterMark: 2 ** 20 });
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    let start = 0;
    for (let end = chunk.indexOf(lineEnd); end !== -1; end = chunk.indexOf(lineEnd, start)) {
      addLine(Buffer.concat([...rest, chunk.subarray(start, end + 1)]));
      rest = [];
      start = end + 1;
    }
    if (start < chunk.length) rest.push(chunk.subarray(start));
  }
  return { updates, bytes, last: updates === 0 ? undefined : last, hash };
}

const LineUpdate = t.intersection([t.type({ offset: t.number }), t.partial({ updateId: t.string })]);

/** The update of a line. One of an unknown variant has no ID. */
interface LineUpdate {
  readonly offset: number;
  readonly updateId?: string | undefined;
}

/** A stream that appends lines to a file, and what it has written. */
export interface LineFile {
  readonly output: Writable;
  /** The size of the file without the lines that wait. */
  readonly bytes: () => number;
  /** The hash of the file without the lines that wait. Call it once. */
  readonly sha256: () => string;
}

/** Appends to a file. Fails with a {@link FileRefusedError} if another process changes the file. */
export function lineFile({ handle, extent }: OpenLineFile, path: string): LineFile {
  const { hash } = extent;
  let { bytes } = extent;
  const write = async (buffer: Buffer): Promise<void> => {
    await checkSize(handle, path, bytes);
    for (let written = 0; written < buffer.length;) {
      const { bytesWritten } = await handle.write(buffer, written, buffer.length - written, bytes + written);
      written += bytesWritten;
    }
    bytes += buffer.length;
    hash.update(buffer);
  };
  const output = new Writable({
    // all waiting lines at once: one call for each line would be slower than the ledger
    writev(chunks: readonly { chunk: unknown }[], done) {
      write(Buffer.concat(chunks.map(({ chunk }) => chunk as Buffer))).then(() => {
        done();
      }, done);
    },
  });
  // never removed: an unhandled error that comes late would end the process
  output.on('error', () => undefined);
  return { output, bytes: () => bytes, sha256: () => hash.digest('hex') };
}

/** Rejects with a {@link FileRefusedError} if a file has another size than this process has written. */
export async function checkSize(handle: FileHandle, path: string, bytes: number): Promise<void> {
  const { size } = await handle.stat();
  if (size !== bytes) throw new FileRefusedError(`${path} has changed: is another process writing to it?`);
}

/** Rejects with a {@link FileRefusedError} if a complete file has changed since. */
export async function checkComplete(path: string, { from, complete }: Manifest): Promise<void> {
  const startOver = `${manifestPath(path)} to start over`;
  const handle = await open(path, 'r').catch((error: unknown) => {
    if (!hasCode(error, 'ENOENT')) throw error;
    throw new FileRefusedError(`${path} was complete and is missing: remove ${startOver}`);
  });
  try {
    const { size } = await handle.stat();
    const { hash } = await readExtent(handle, path, from);
    if (size === complete?.bytes && hash.digest('hex') === complete.sha256) return;
  } finally {
    await handle.close();
  }
  throw new FileRefusedError(`${path} has changed since it was complete: remove it and ${startOver}`);
}
