import { catchError, EMPTY, forkJoin, lastValueFrom, take, tap, toArray, type Observable } from 'rxjs';
import { createLedger } from '../../../src/ledger/createLedger.js';
import type { LedgerOptions } from '../../../src/ledger/LedgerOptions.js';
import { executeRequest, prepareRequest, sent, updateFormat } from './secrets.js';

/** What a ledger's subscribers and listeners were given, apart from good updates. */
export interface Given {
  readonly errors: unknown[];
  readonly events: unknown[];
  /** What was emitted. */
  readonly values: unknown[];
}

export const impatient = { baseDelayMs: 1, giveUpAfterMs: 8 };

/** Asks a ledger all that there is to ask, or for updates alone, with secrets. */
export async function asked(options: LedgerOptions, what: 'all' | 'updates' = 'all'): Promise<Given> {
  const ledger = createLedger({
    token: sent.token,
    headers: { 'x-api-key': sent.header },
    retry: impatient,
    requestTimeoutMs: 2_000,
    ...options,
  });
  const given: Given = { errors: [], events: [], values: [] };
  const listening = ledger.diagnostics$.subscribe((event) => given.events.push(event));
  const collected = (source$: Observable<unknown>): Observable<unknown> =>
    source$.pipe(
      tap((value) => given.values.push(value)),
      catchError((error: unknown) => {
        given.errors.push(error);
        return EMPTY;
      }),
      toArray(),
    );
  const request = { beginExclusive: 0, updateFormat };
  await lastValueFrom(
    forkJoin([
      collected(ledger.updates(request).pipe(take(3))),
      collected(ledger.updates(request, { onInvalid: 'emit' }).pipe(take(3))),
      ...(what === 'updates'
        ? []
        : [
            collected(ledger.prepare(prepareRequest)),
            collected(ledger.executeAndWaitForTransaction(executeRequest, { recover: false })),
            collected(ledger.ledgerEnd()),
          ]),
    ]),
  );
  listening.unsubscribe();
  return given;
}
