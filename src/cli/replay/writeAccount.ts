import { replaceFile } from '../../file/replaceFile.js';
import type { Account } from './Account.js';
import { accountPath } from './accountPath.js';

/** Puts the account of a file beside it; a crash leaves the one before, or this one. */
export const writeAccount = (file: string, account: Account): Promise<void> =>
  replaceFile(accountPath(file), `${JSON.stringify(account, undefined, 2)}\n`);
