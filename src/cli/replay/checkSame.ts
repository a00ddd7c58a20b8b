import { UsageError } from '../arguments/UsageError.js';
import type { Account } from './Account.js';
import { accountPath } from './accountPath.js';
import type { ReplayOptions } from './ReplayOptions.js';
import { selectionText } from './selectionText.js';

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
