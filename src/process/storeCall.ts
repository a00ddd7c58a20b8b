import { defaultIfEmpty, defer, takeLast, timeout, type Observable, type ObservableInput } from 'rxjs';
import { isLedgerError } from '../errors/LedgerError.js';
import { quotable } from '../errors/internal/quotable.js';
import { StoreError, type StoreOperation } from '../errors/StoreError.js';
import { atMost } from '../http/atMost.js';
import { mapError } from '../http/mapError.js';
import { HandlerFailure } from './HandlerFailure.js';

/** Asks a store for something: emits its last value once it is done. A failure is a {@link StoreError}, unless the store knows better. */
export const storeCall = (
  operation: StoreOperation,
  processor: string,
  withinMs: number,
  ask: () => ObservableInput<unknown>,
): Observable<unknown> =>
  defer(ask).pipe(
    takeLast(1),
    defaultIfEmpty(undefined),
    timeout(atMost(withinMs)),
    mapError((error) =>
      isLedgerError(error) || error instanceof HandlerFailure ? error : failedStore(operation, processor, error),
    ),
  );

/** The error of a store that failed with something of its own. */
export const failedStore = (operation: StoreOperation, processor: string, error: unknown): StoreError =>
  new StoreError(operation, processor, quotable(error instanceof Error ? error.message : String(error), []), error);
