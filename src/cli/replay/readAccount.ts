import { readFile } from 'node:fs/promises';
import { hasCode } from '../hasCode.js';
import { Account } from './Account.js';
import { accountPath } from './accountPath.js';
import { FileRefusedError } from './FileRefusedError.js';

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
