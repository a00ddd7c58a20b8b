import { ignoreElements, merge, type Observable, take, tap, timer } from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import type { Ledger } from '../ledger/Ledger.js';
import type { StatusLine } from './terminal.js';
import type { Output } from './output.js';

/** How long a command waits in silence for its first answer, in milliseconds. */
const silenceMs = 3_000;

/**
 * The ledger end, as the first answer of a ledger: a feed retries while a ledger cannot be reached, but a mistyped URL
 * should fail at once. Says so on stderr if it takes long: a wrong port may accept connections and never answer.
 */
export const firstAnswer = (
  ledger: Pick<Ledger, 'ledgerEnd'>,
  stderr: Output,
  status: StatusLine,
): Observable<Offset> => {
  const hint$ = timer(silenceMs).pipe(
    tap(() => {
      status.clear();
      stderr.write("no answer yet: 'canton-rx check' with the same --ledger tells why\n");
    }),
    ignoreElements(),
  );
  return merge(ledger.ledgerEnd(), hint$).pipe(take(1));
};
