import type { Offset } from '../../codecs/Offset.js';
import type { Account } from './Account.js';
import { FileRefusedError } from './FileRefusedError.js';
import type { ReplayOptions } from './ReplayOptions.js';
import { selectionText } from './selectionText.js';

/** What the ledger tells of itself, where it does. */
export interface Told {
  readonly end: Offset | undefined;
  readonly participantId: string | undefined;
}

/** What a file is to be: as it was begun, on the same participant, or as it is asked for now. */
export function agreed(account: Account | undefined, options: ReplayOptions, { end, participantId }: Told): Account {
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
