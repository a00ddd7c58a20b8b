import { asyncScheduler, catchError, defer, map, of, timeout, type Observable } from 'rxjs';
import type { Submission } from '../errors/Submission.js';
import { ledgerEnd } from '../feed/ledgerEnd.js';
import type { Link } from '../http/Link.js';

/** When a change was sent first, and where the ledger ended then. */
export type Begun = Pick<Submission, 'sentAt' | 'beginExclusive'>;

/** How long the ledger end may take: a submission is not held up for it. */
const endWithinMs = 5_000;

/**
 * Asks for the ledger end before a change is sent: whatever becomes of it lies after that, and neither the ledger nor
 * anybody else has to look further back.
 */
export const begin = (link: Link): Observable<Begun> =>
  defer(() => ledgerEnd(link)).pipe(
    timeout(endWithinMs),
    map((beginExclusive) => ({ beginExclusive })),
    catchError(() => of({})),
    map((end) => ({ sentAt: asyncScheduler.now(), ...end })),
  );
