import { access } from 'node:fs/promises';
import { catchError, combineLatest, concat, concatMap, defer, EMPTY, type Observable, of, throwError } from 'rxjs';
import { isApiError } from '../../errors/ApiError.js';
import type { Ledger } from '../../ledger/Ledger.js';
import { firstAnswer } from '../firstAnswer.js';
import type { Output } from '../output.js';
import { checkParties, warnOfSynchronizers } from '../unknownNames.js';
import { participantId, probe } from '../probe.js';
import { errorLine } from '../World.js';
import { checkComplete, openLineFile, type OpenLineFile } from './lineFile.js';
import {
  checkSameOptions,
  FileRefusedError,
  type Manifest,
  manifestPath,
  readManifest,
  reconcile,
  writeManifest,
} from './Manifest.js';
import type { ReplayOptions } from './ReplayOptions.js';

/** The manifest of a file, and the file unless it is complete already. */
interface Prepared {
  readonly manifest: Manifest;
  readonly file?: OpenLineFile;
}

const participantTimeoutMs = 5_000;

/**
 * Compares an existing file with the options, or writes the manifest of a new one before anything else. Sends requests to the
 * ledger first, so that a mistyped URL fails at once.
 */
export const prepare = (ledger: Ledger, options: ReplayOptions, stderr: Output): Observable<Prepared> =>
  defer(() => readExisting(options)).pipe(
    concatMap((existing) => {
      if (existing?.complete !== undefined) return of({ manifest: existing });
      const end$ = firstAnswer(ledger, options, stderr).pipe(
        // a service that does not report the ledger end can be read up to a known offset
        catchError((error: unknown) => {
          const isNeeded = existing === undefined && options.to === 'end';
          return isApiError(error) && !isNeeded ? of(undefined) : throwError(() => error);
        }),
      );
      const participantId$ = participantId((request) => probe(options, request, participantTimeoutMs));
      // the parties of a file that was started were known then
      const checked$ =
        existing === undefined
          ? concat(
              checkParties(ledger, options, options.parties),
              warnOfSynchronizers(options, options.synchronizers, stderr),
            )
          : EMPTY;
      const state$ = combineLatest({ end: end$, participantId: participantId$ });
      return state$.pipe(
        concatMap((state) => concat(checked$, of(state))),
        concatMap(async (state) => {
          const manifest = reconcile(existing, options, state);
          if (stderr.isTTY !== true && state.end !== undefined && state.end < manifest.to)
            stderr.write(
              errorLine(`the ledger ends at offset ${state.end}: waiting for updates up to --to ${manifest.to}`),
            );
          if (existing === undefined) await writeManifest(options.out, manifest);
          return { manifest, file: await openLineFile(options.out, manifest.from) };
        }),
      );
    }),
  );

async function readExisting(options: ReplayOptions): Promise<Manifest | undefined> {
  const { out } = options;
  const manifest = await readManifest(out);
  if (manifest !== undefined) checkSameOptions(manifest, options);
  if (manifest?.complete !== undefined) await checkComplete(out, manifest);
  if (manifest === undefined && (await exists(out)))
    throw new FileRefusedError(`${out} already exists without ${manifestPath(out)}: choose another file`);
  return manifest;
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
