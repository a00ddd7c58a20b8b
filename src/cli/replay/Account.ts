import * as t from 'io-ts';
import { readFile } from 'node:fs/promises';
import type { Offset } from '../../codecs/scalars.js';
import { replaceFile } from '../../file/durable.js';
import { UsageError } from '../arguments.js';
import { hasCode } from '../World.js';
import { type ReplayOptions, selectionText } from './ReplayOptions.js';

/** What a file is to be, and what it is when it is complete; kept in a file beside it. */
export interface Account {
  readonly version: 1;
  /** Exclusive. */
  readonly from: Offset;
  /** Inclusive. */
  readonly to: Offset;
  /** What was asked for: text that is equal for equal requests. */
  readonly selection: string;
  /** Whose offsets these are, where the participant tells it. */
  readonly participantId?: string;
  /** Absent until the file is whole. */
  readonly complete?: { readonly updates: number; readonly bytes: number; readonly sha256: string };
}

/** Codec of `Account`. */
export const Account: t.Type<Account, unknown> = t.intersection([
  t.readonly(t.type({ version: t.literal(1), from: t.number, to: t.number, selection: t.string })),
  t.readonly(
    t.partial({
      participantId: t.string,
      complete: t.readonly(t.type({ updates: t.number, bytes: t.number, sha256: t.string })),
    }),
  ),
]);

/** Where the account of a file is. */
export const accountPath = (file: string): string => `${file}.replay.json`;

/** A file cannot be gone on with, or is not what it says; the message says why, and what to do. */
export class FileRefusedError extends Error {
  /** The class's name. */
  override readonly name = 'FileRefusedError' as const;
}

/** The account of a file; `undefined` where there is none. */
export async function readAccount(file: string): Promise<Account | undefined> {
  const path = accountPath(file);
  try {
    const decoded = Account.decode(JSON.parse(await readFile(path, 'utf8')));
    if (decoded._tag === 'Right') return decoded.right;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new FileRefusedError(`${path} is not what replay writes: remove it and ${file} to begin anew`);
}

/** Puts the account of a file beside it; a crash leaves the one before, or this one. */
export const writeAccount = (file: string, account: Account): Promise<void> =>
  replaceFile(accountPath(file), `${JSON.stringify(account, undefined, 2)}\n`);

/** Makes sure that a file was begun with what is asked for now. Throws a {@link UsageError}. */
export function checkSame(account: Account, options: ReplayOptions): void {
  const { from, to, out } = options;
  const isOther =
    (account.from !== from && `--from ${account.from}`) ||
    (to !== 'end' && account.to !== to && `--to ${account.to}`) ||
    (account.selection !== selectionText(options) && 'other parties, templates, variants, synchronizers or --effects');
  if (isOther === false) return;
  throw new UsageError(`${out} was begun with ${isOther}: choose another file, or remove it and ${accountPath(out)}`);
}

/** What the ledger tells of itself, where it does. */
interface Told {
  readonly end: Offset | undefined;
  readonly participantId: string | undefined;
}

/** What a file is to be: as it was begun, on the same participant, or as it is asked for now. */
export function reconcile(account: Account | undefined, options: ReplayOptions, { end, participantId }: Told): Account {
  if (account !== undefined) {
    const isSame = participantId === undefined || (account.participantId ?? participantId) === participantId;
    if (isSame) return account;
    throw new FileRefusedError(
      `${options.out} has updates of another participant, whose offsets mean nothing here: choose another file`,
    );
  }
  const { from } = options;
  const to = options.to === 'end' ? (end ?? from) : options.to;
  if (to < from) throw new FileRefusedError(`the ledger ends at ${to}, before --from ${from}: nothing was written`);
  const selection = selectionText(options);
  return { version: 1, from, to, selection, ...(participantId !== undefined && { participantId }) };
}
