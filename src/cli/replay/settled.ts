import { catchError, concat, concatMap, defer, finalize, ignoreElements, map, of, type Observable } from 'rxjs';
import type { FileHandle } from 'node:fs/promises';
import { flushed } from '../flushed.js';
import type { Account } from './Account.js';
import type { Ended, Ending } from './Ended.js';
import { FileRefusedError } from './FileRefusedError.js';
import type { LineFile } from './lineFile.js';
import type { ReplayProgress } from './ReplayProgress.js';
import { writeAccount } from './writeAccount.js';

/** What was written to, and how far. */
export interface Written {
  readonly path: string;
  readonly account: Account;
  readonly handle: FileHandle;
  readonly file: LineFile;
  readonly progress: ReplayProgress;
}

/** How it ended when what waits is on the disk; only then it is complete, and the account says so. */
export const settled = (ending: Ending, written: Written): Observable<Ended> =>
  concat(flushed(written.file.output), of(ending)).pipe(
    concatMap(async (): Promise<Ended> => {
      await written.handle.sync();
      return ending.kind === 'done' ? { kind: 'complete', account: await completed(written) } : ending;
    }),
    // what failed first is what to tell
    catchError((error: unknown) => of(ending.kind === 'failed' ? ending : ({ kind: 'failed', error } as const))),
    finalize(() => {
      written.file.output.destroy();
    }),
    concatMap((ended) => concat(defer(() => written.handle.close()).pipe(ignoreElements()), of(ended))),
    map((ended): Ended => ended),
  );

async function completed({ path, account, handle, file, progress }: Written): Promise<Account> {
  const { size } = await handle.stat();
  if (size !== file.bytes())
    throw new FileRefusedError(`${path} has changed meanwhile: does another process write to it?`);
  const complete = { updates: progress.updates, bytes: size, sha256: file.sha256() };
  await writeAccount(path, { ...account, complete });
  return { ...account, complete };
}
