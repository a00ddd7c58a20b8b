import type { Ledger, Update, UpdateFormat } from 'canton-rx';
import { filter, take, type Observable } from 'rxjs';

/** One update by its offset. While the ledger is away, it waits. */
export const readUpdate = (ledger: Ledger, offset: number, updateFormat: UpdateFormat): Observable<Update> =>
  ledger.updates({ beginExclusive: offset - 1, endInclusive: offset, updateFormat }).pipe(
    filter((update) => update.offset === offset && update._tag !== 'OffsetCheckpoint'),
    take(1),
  );
