import type { WritableSignal } from '@angular/core';
import { isLedgerError, isTransient } from 'canton-rx';
import type { injectLedger } from 'canton-rx/angular';
import { finalize, type Observable, retry, throwError, timer } from 'rxjs';

/**
 * Reads the ledger end, and tries again until the ledger answers: unlike a feed, the library does not retry a single
 * request. Meanwhile `trouble` says why there is no answer.
 */
export function readLedgerEnd(
  ledger: ReturnType<typeof injectLedger>,
  trouble: WritableSignal<Error | undefined>,
): Observable<number> {
  const delay = (error: unknown): Observable<unknown> => {
    if (!isLedgerError(error) || !isTransient(error)) return throwError(() => error);
    trouble.set(error);
    return timer(1_000);
  };
  return ledger.ledgerEnd().pipe(
    retry({ delay }),
    finalize(() => trouble.set(undefined)),
  );
}
