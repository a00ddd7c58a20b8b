import type { Ledger, Update, UpdateFormat } from 'canton-rx';
import { filter, take, type Observable } from 'rxjs';

/** Reads one update by its offset. Waits while the ledger is not available. */
export const readUpdate = (ledger: Ledger, offset: number, updateFormat: UpdateFormat): Observable<Update> =>
  ledger.updates({ beginExclusive: offset - 1, endInclusive: offset, updateFormat }).pipe(
    filter((update) => update.offset === offset && update._tag !== 'OffsetCheckpoint'),
    take(1),
  );
