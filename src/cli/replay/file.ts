import { createHash, type Hash } from 'node:crypto';
import { constants, existsSync } from 'node:fs';
import { type FileHandle, open, readFile } from 'node:fs/promises';
import { Writable } from 'node:stream';
import * as t from 'io-ts';
import { replaceFile } from '../../file/files.js';
import { UsageError } from '../arguments.js';
import { decodeJson } from '../participant.js';
import type { Selection } from '../Selection.js';
import { hasCode } from '../World.js';

/** The intended content of a file, and its size and hash once it is complete; kept in a file next to it. */
export type Manifest = Readonly<t.TypeOf<typeof Manifest>>;

/** Codec of `Manifest`. The range is after `from` up to `to`. Equal selections have equal texts. */
const Manifest = t.intersection([
  t.type({ version: t.literal(1), from: t.number, to: t.number, selection: t.string }),
  t.partial({
    // the --since and --count from which `from` was found
    start: t.string,
    // to which the offsets belong, if it reports its id
    participantId: t.string,
    // absent until the file is complete
    complete: t.type({ updates: t.number, bytes: t.number, sha256: t.string }),
  }),
]);

/** The updates of a file. */
interface Range extends Selection {
  /** Exclusive. */
  readonly from: number;
  /** Inclusive; `'end'` for the ledger end when the file is started. */
  readonly to: number | 'end';
  /** The relative start, of which `from` is the result when the file is started; absent without one. */
  readonly start: string | undefined;
  /** The path of the file. */
  readonly out: string;
}

/** The path of the manifest of a file. */
export const manifestPath = (file: string): string => `${file}.replay.json`;

/** A file cannot be resumed, or has changed. The message has the reason and the next step. */
export class FileRefusedError extends Error {
  /** The class's name. */
  override readonly name = 'FileRefusedError' as const;
}

/**
 * Reads the manifest of a file; resolves with `undefined` if there is neither. Rejects with a {@link FileRefusedError} for a
 * file of something else, and with a `UsageError` for one that was started with other options.
 */
export async function readManifest(range: Range): Promise<Manifest | undefined> {
  const { out } = range;
  const path = manifestPath(out);
  try {
    const manifest = decodeJson(await readFile(path, 'utf8'), Manifest);
    if (manifest !== undefined) return checkSameOptions(manifest, range);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
    if (!existsSync(out)) return undefined;
    throw new FileRefusedError(`${out} already exists without ${path}: choose another file`);
  }
  throw new FileRefusedError(`${path} was not written by replay: remove it and ${out} to start over`);
}

function checkSameOptions(manifest: Manifest, range: Range): Manifest {
  const { from, to, out, start } = range;
  const other =
    (manifest.start !== start &&
      (manifest.start === undefined ? `--from ${manifest.from}` : 'another --since or --count')) ||
    (start === undefined && manifest.from !== from && `--from ${manifest.from}`) ||
    (to !== 'end' && manifest.to !== to && `--to ${manifest.to}`) ||
    (manifest.selection !== selectionText(range) && 'other parties, templates, variants, synchronizers or --effects');
  if (other === false) return manifest;
  throw new UsageError(`${out} was started with ${other}: choose another file, or remove it and ${manifestPath(out)}`);
}

/** Writes the manifest of a file. A crash leaves the previous one or this one. */
export const writeManifest = (file: string, manifest: Manifest): Promise<void> =>
  replaceFile(manifestPath(file), `${JSON.stringify(manifest, undefined, 2)}\n`);

/** What the ledger reports about itself. */
interface LedgerState {
  readonly end: number | undefined;
  readonly participantId: string | undefined;
}

/**
 * The manifest to continue with: that of the file, if it belongs to the same participant, or a new one by the options. Throws
 * a {@link FileRefusedError}.
 */
export function reconcile(manifest: Manifest | undefined, range: Range, { end, participantId }: LedgerState): Manifest {
  if (manifest !== undefined) {
    const isSame = participantId === undefined || (manifest.participantId ?? participantId) === participantId;
    if (isSame) return manifest;
    throw new FileRefusedError(
      `${range.out} has updates of another participant, which has other offsets: choose another file`,
    );
  }
  const { from, start } = range;
  const to = range.to === 'end' ? (end ?? from) : range.to;
  if (end !== undefined && end < from)
    throw new FileRefusedError(`the ledger ends at offset ${end}, before --from ${from}: nothing was written`);
  return {
    ...{ version: 1, from, to, selection: selectionText(range) },
    ...(start !== undefined && { start }),
    ...(participantId !== undefined && { participantId }),
  };
}

/** A selection as text: equal texts for equal selections, in whatever order the options were given. */
const selectionText = ({ parties, templates, isWithEffects, variants, synchronizers }: Selection): string =>
  JSON.stringify(
    { parties, templates, isWithEffects, variants, synchronizers },
    // all lists are sets
    (_, value: unknown) => (Array.isArray(value) ? [...new Set(value)].sort() : value),
  );

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

const LineUpdate = t.type({ offset: t.number, updateId: t.union([t.string, t.undefined]) });

/** The update of a line. One of an unknown variant has no ID. */
type LineUpdate = Readonly<t.TypeOf<typeof LineUpdate>>;

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
