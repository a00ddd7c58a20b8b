import * as t from 'io-ts';
import { readFile } from 'node:fs/promises';
import type { Offset } from '../../codecs/scalars.js';
import { hasCode, replaceFile } from '../../file/durable.js';
import { UsageError } from '../arguments.js';
import { type ReplayOptions, selectionText } from './ReplayOptions.js';

/** The intended content of a file, and its size and hash once it is complete; kept in a file next to it. */
export interface Manifest {
  readonly version: 1;
  /** Exclusive. */
  readonly from: Offset;
  /** Inclusive. */
  readonly to: Offset;
  /** The selected updates: equal texts for equal selections. */
  readonly selection: string;
  /** The participant that the offsets belong to, if it reports its id. */
  readonly participantId?: string;
  /** Absent until the file is complete. */
  readonly complete?: { readonly updates: number; readonly bytes: number; readonly sha256: string };
}

/** Codec of `Manifest`. */
const Manifest: t.Type<Manifest, unknown> = t.intersection([
  t.readonly(t.type({ version: t.literal(1), from: t.number, to: t.number, selection: t.string })),
  t.readonly(
    t.partial({
      participantId: t.string,
      complete: t.readonly(t.type({ updates: t.number, bytes: t.number, sha256: t.string })),
    }),
  ),
]);

/** The path of the manifest of a file. */
export const manifestPath = (file: string): string => `${file}.replay.json`;

/** A file cannot be resumed, or has changed. The message has the reason and the next step. */
export class FileRefusedError extends Error {
  /** The class's name. */
  override readonly name = 'FileRefusedError' as const;
}

/** Reads the manifest of a file; resolves with `undefined` if there is none. */
export async function readManifest(file: string): Promise<Manifest | undefined> {
  const path = manifestPath(file);
  try {
    const decoded = Manifest.decode(JSON.parse(await readFile(path, 'utf8')));
    if (decoded._tag === 'Right') return decoded.right;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new FileRefusedError(`${path} was not written by replay: remove it and ${file} to start over`);
}

/** Writes the manifest of a file. A crash leaves the previous one or this one. */
export const writeManifest = (file: string, manifest: Manifest): Promise<void> =>
  replaceFile(manifestPath(file), `${JSON.stringify(manifest, undefined, 2)}\n`);

/** Throws a {@link UsageError} if a file was started with other options. */
export function checkSameOptions(manifest: Manifest, options: ReplayOptions): void {
  const { from, to, out } = options;
  const other =
    (manifest.from !== from && `--from ${manifest.from}`) ||
    (to !== 'end' && manifest.to !== to && `--to ${manifest.to}`) ||
    (manifest.selection !== selectionText(options) && 'other parties, templates, variants, synchronizers or --effects');
  if (other === false) return;
  throw new UsageError(`${out} was started with ${other}: choose another file, or remove it and ${manifestPath(out)}`);
}

/** The facts that the ledger reports about itself. */
interface LedgerState {
  readonly end: Offset | undefined;
  readonly participantId: string | undefined;
}

/**
 * The manifest to continue with: that of the file, if it belongs to the same participant, or a new one by the options. Throws
 * a {@link FileRefusedError}.
 */
export function reconcile(
  manifest: Manifest | undefined,
  options: ReplayOptions,
  { end, participantId }: LedgerState,
): Manifest {
  if (manifest !== undefined) {
    const isSame = participantId === undefined || (manifest.participantId ?? participantId) === participantId;
    if (isSame) return manifest;
    throw new FileRefusedError(
      `${options.out} has updates of another participant, which has other offsets: choose another file`,
    );
  }
  const { from } = options;
  const to = options.to === 'end' ? (end ?? from) : options.to;
  if (end !== undefined && end < from)
    throw new FileRefusedError(`the ledger ends at offset ${end}, before --from ${from}: nothing was written`);
  const selection = selectionText(options);
  return { version: 1, from, to, selection, ...(participantId !== undefined && { participantId }) };
}
