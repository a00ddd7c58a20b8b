import { access } from 'node:fs/promises';
import { catchError, combineLatest, concatMap, defer, type Observable, of, throwError } from 'rxjs';
import { isApiError } from '../../errors/ApiError.js';
import type { Ledger } from '../../ledger/Ledger.js';
import { ask, participantId } from '../probe/ask.js';
import {
  type Account,
  accountPath,
  reconcile,
  checkSame,
  FileRefusedError,
  readAccount,
  writeAccount,
} from './Account.js';
import { checkComplete, openLineFile, type Opened } from './lineFile.js';
import type { ReplayOptions } from './ReplayOptions.js';

/** What a file is to be, and the file; without the file, where it is complete already. */
interface Prepared {
  readonly account: Account;
  readonly file?: Opened;
}

/**
 * Finds out what is there and what is to come, and says so beside the file before anything is written to it. Asks the
 * ledger, so that whoever mistyped its address does not wait for it.
 */
export const prepare = (ledger: Ledger, options: ReplayOptions): Observable<Prepared> =>
  defer(() => present(options)).pipe(
    concatMap((account) => {
      if (account?.complete !== undefined) return of({ account });
      const end$ = ledger.ledgerEnd().pipe(
        // a service that does not tell may be read all the same, where the end is known
        catchError((error: unknown) => {
          const isNeeded = account === undefined && options.to === 'end';
          return isApiError(error) && !isNeeded ? of(undefined) : throwError(() => error);
        }),
      );
      return combineLatest({
        end: end$,
        participantId: participantId((question) => ask(options, question, { timeoutMs: 5_000 })),
      }).pipe(
        concatMap(async (told) => {
          const chosen = reconcile(account, options, told);
          if (account === undefined) await writeAccount(options.out, chosen);
          return { account: chosen, file: await openLineFile(options.out, chosen.from) };
        }),
      );
    }),
  );

async function present(options: ReplayOptions): Promise<Account | undefined> {
  const { out } = options;
  const account = await readAccount(out);
  if (account !== undefined) checkSame(account, options);
  if (account?.complete !== undefined) await checkComplete(out, account);
  if (account === undefined && (await isThere(out)))
    throw new FileRefusedError(`${out} is there already, and no ${accountPath(out)} tells of it: choose another file`);
  return account;
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
