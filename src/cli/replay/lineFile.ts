import * as t from 'io-ts';
import { createHash, type Hash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { Writable } from 'node:stream';
import type { Offset } from '../../codecs/scalars.js';
import { hasCode } from '../World.js';
import { type Account, accountPath, FileRefusedError } from './Account.js';

/** A file that lines are written to, and what it has by now. */
export interface LineFile {
  readonly output: Writable;
  /** What has been written, not what waits. */
  readonly bytes: () => number;
  /** Of what has been written; to be called once. */
  readonly sha256: () => string;
}

/** What a file has in whole lines. */
interface Extent {
  readonly updates: number;
  readonly bytes: number;
  /** The offset of the last update; absent of an empty file. */
  readonly last: Offset | undefined;
  /** Of these lines; to be gone on with. */
  readonly hash: Hash;
}

/** A file to be written on, and what it has. */
export interface Opened {
  readonly handle: FileHandle;
  readonly extent: Extent;
  /** How many bytes of a torn line were cut off. */
  readonly torn: number;
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

const lineEnd = 0x0a;

/** Reads a file to its last whole line; each must be an update behind the one before. What follows it was torn off. */
export async function extentOf(handle: FileHandle, path: string, from: Offset): Promise<Extent> {
  const hash = createHash('sha256');
  let [updates, bytes, last] = [0, 0, from];
  let rest: Buffer[] = [];
  const take = (line: Buffer): void => {
    updates += 1;
    const offset = offsetIn(line);
    if (offset === undefined || offset <= last)
      throw new FileRefusedError(
        `line ${updates} of ${path} is not what replay wrote there: remove the file and its account to begin anew`,
      );
    last = offset;
    bytes += line.length;
    hash.update(line);
  };
  const stream = handle.createReadStream({ start: 0, autoClose: false, highWaterMark: 2 ** 20 });
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    let begin = 0;
    for (let end = chunk.indexOf(lineEnd); end !== -1; end = chunk.indexOf(lineEnd, begin)) {
      take(Buffer.concat([...rest, chunk.subarray(begin, end + 1)]));
      rest = [];
      begin = end + 1;
    }
    if (begin < chunk.length) rest.push(chunk.subarray(begin));
  }
  return { updates, bytes, last: updates === 0 ? undefined : last, hash };
}

/** Of a line, what matters here. */
const Line = t.type({ offset: t.number });

function offsetIn(line: Buffer): Offset | undefined {
  try {
    const decoded = Line.decode(JSON.parse(line.toString()));
    return decoded._tag === 'Right' ? decoded.right.offset : undefined;
  } catch {
    return undefined;
  }
}

/** Opens a file, makes it if it is missing, and cuts off a last line that is not whole. */
export async function openLineFile(path: string, from: Offset): Promise<Opened> {
  // for its owner alone: it is contents of the ledger
  const handle = await open(path, constants.O_RDWR | constants.O_CREAT, 0o600);
  try {
    const extent = await extentOf(handle, path, from);
    const { size } = await handle.stat();
    if (size > extent.bytes) await handle.truncate(extent.bytes);
    return { handle, extent, torn: size - extent.bytes };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Makes sure that a complete file is what it was when it became complete. */
export async function checkComplete(path: string, { from, complete }: Account): Promise<void> {
  const handle = await open(path, 'r').catch((error: unknown) => {
    if (!hasCode(error, 'ENOENT')) throw error;
    throw new FileRefusedError(`${path} is gone, which was complete: remove ${accountPath(path)} to begin anew`);
  });
  try {
    const { size } = await handle.stat();
    const { hash } = await extentOf(handle, path, from);
    if (size === complete?.bytes && hash.digest('hex') === complete.sha256) return;
  } finally {
    await handle.close();
  }
  throw new FileRefusedError(
    `${path} has changed since it was complete: remove it and ${accountPath(path)} to begin anew`,
  );
}
