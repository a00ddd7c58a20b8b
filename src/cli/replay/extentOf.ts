import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import * as t from 'io-ts';
import type { Offset } from '../../codecs/Offset.js';
import type { Extent } from './Extent.js';
import { FileRefusedError } from './FileRefusedError.js';

/** Of a line, what matters here. */
const Line = t.type({ offset: t.number });

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

function offsetIn(line: Buffer): Offset | undefined {
  try {
    const decoded = Line.decode(JSON.parse(line.toString()));
    return decoded._tag === 'Right' ? decoded.right.offset : undefined;
  } catch {
    return undefined;
  }
}
