import { randomUUID } from 'node:crypto';
import { access, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as t from 'io-ts';
import { UsageError } from '../arguments.js';
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
    const decoded = Manifest.decode(JSON.parse(await readFile(path, 'utf8')));
    if (decoded._tag === 'Right') return checkSameOptions(decoded.right, range);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) {
      await checkMissing(out);
      return undefined;
    }
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new FileRefusedError(`${path} was not written by replay: remove it and ${out} to start over`);
}

async function checkMissing(file: string): Promise<void> {
  const exists = await access(file).then(
    () => true,
    () => false,
  );
  if (exists) throw new FileRefusedError(`${file} already exists without ${manifestPath(file)}: choose another file`);
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
export async function writeManifest(file: string, manifest: Manifest): Promise<void> {
  const path = manifestPath(file);
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    // readable by its owner alone, as the file
    await writeFile(temporary, `${JSON.stringify(manifest, undefined, 2)}\n`, { mode: 0o600, flush: true });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
}

/** Makes the renaming durable across a power loss, where the platform can open folders. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => undefined);
  // some file systems cannot sync folders
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}

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
  const { from } = range;
  const to = range.to === 'end' ? (end ?? from) : range.to;
  if (end !== undefined && end < from)
    throw new FileRefusedError(`the ledger ends at offset ${end}, before --from ${from}: nothing was written`);
  const selection = selectionText(range);
  const { start } = range;
  return {
    ...{ version: 1, from, to, selection },
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
