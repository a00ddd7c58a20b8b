import { concatMap, defer, distinctUntilChanged, filter, map, type Observable, of, repeat, timer, toArray } from 'rxjs';
import { decodeWith, exchange } from '../client/exchange.js';
import { interceptFeed } from '../client/intercept.js';
import type { Client } from '../client/Client.js';
import { readableParties, UserRights } from '../codecs/UserRights.js';
import { checkPositive } from '../codecs/internal/numbers.js';
import { clampTimer, retryPolicy, type RetryPolicy, retryTransient } from '../http/retry.js';
import { clientOf } from '../ledger/clientOf.js';
import type { LedgerReader } from '../ledger/Ledger.js';
import { readParties } from '../ledger/readParties.js';
import { isSameSelection } from './selection/Selection.js';

/**
 * Options of {@link partiesOf}.
 *
 * @category Contracts
 */
export interface PartiesOfOptions {
  /**
   * The user whose rights select the parties: those as which it can act or read. If it can act or read as any party, they are
   * those that the participant hosts. A user may read its own rights; those of others require the right of an administrator.
   *
   * @defaultValue none: the parties that the participant hosts, which requires the right of an administrator
   */
  readonly userId?: string | undefined;
  /**
   * How long after an answer the parties are read again, in milliseconds.
   *
   * @defaultValue 30000
   */
  readonly pollMs?: number | undefined;
  /** How to retry after a transient failure. Default: the policy of the ledger. */
  readonly retry?: RetryPolicy | undefined;
}

/**
 * Emits the parties of a user, or all that the participant hosts: at once, and whenever they have changed. They are
 * in the order of their names. Use it as the `parties` of a query to follow the contracts of parties that come and go.
 *
 * Reads them again from time to time, so that a change shows after `pollMs`. Cold and endless. Retries after a transient failure, and
 * fails with the errors of a request, such as an `ApiError` for an unknown user, or of status 403.
 *
 * @param ledger - a ledger from `createLedger`, `createLedgerReader` or `injectLedger`
 * @throws TypeError for invalid options, and if the `updates` of the ledger were replaced
 * @example
 * ```ts
 * import { createLedger } from 'canton-rx';
 * import { liveContracts, partiesOf } from 'canton-rx/contracts';
 *
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575' });
 * const parties = partiesOf(ledger, { userId: 'onboarding-service' });
 * const counting = liveContracts(ledger, { parties })
 *   .count$()
 *   .subscribe((count) => console.log(count));
 * counting.unsubscribe();
 * ```
 *
 * @category Contracts
 */
export function partiesOf(
  ledger: LedgerReader,
  { userId, pollMs = 30_000, retry }: PartiesOfOptions = {},
): Observable<readonly string[]> {
  checkPositive({ pollMs });
  // JavaScript callers may pass anything
  if (userId === '') throw new TypeError('userId is empty');
  const client = clientOf(ledger);
  const policy = retryPolicy(client.retry, retry);
  const follow = (its: Client): Observable<readonly string[]> => {
    // of no feed: it does not report where a feed begins, recovers and ends
    const settings = { retry: policy, report: its.report, success$: its.success$ };
    const read$ = defer(() => (userId === undefined ? hostedParties(its) : partiesOfUser(its, userId)));
    return read$.pipe(
      retryTransient(settings),
      repeat({ delay: () => timer(clampTimer(pollMs)) }),
      distinctUntilChanged<readonly string[]>(isSameSelection),
    );
  };
  // a part of the contracts: a session ends it with them
  return interceptFeed(client, { kind: 'contracts', isEndless: true }, (its) => defer(() => follow(its)));
}

const hostedParties = (client: Client): Observable<readonly string[]> =>
  readParties(client).pipe(
    filter(({ isLocal }) => isLocal),
    map(({ party }) => party),
    toArray(),
    map((parties) => [...new Set(parties)].sort()),
  );

function partiesOfUser(client: Client, userId: string): Observable<readonly string[]> {
  const path = `/v2/users/${encodeURIComponent(userId)}/rights`;
  return exchange(client, { method: 'GET', path }, decodeWith(path, UserRights)).pipe(
    map(readableParties),
    concatMap((parties) => (parties === 'any' ? hostedParties(client) : of(parties))),
  );
}
