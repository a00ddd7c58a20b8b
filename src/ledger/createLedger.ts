import { catchError, concatMap, defer, EMPTY, map, type Observable, of } from 'rxjs';
import { ConnectedSynchronizers } from '../codecs/OffsetCheckpoint.js';
import type { Update } from '../codecs/Update.js';
import type { Party } from '../codecs/scalars.js';
import { ledgerEffects } from '../codecs/UpdateFormat.js';
import type { UpdatesRequest } from '../codecs/UpdatesRequest.js';
import { completions } from '../feed/completions.js';
import { ledgerEnd } from '../feed/ledgerEnd.js';
import { isUnavailable } from '../history/participant.js';
import type { UndecodedUpdate } from '../feed/Page.js';
import { historyOf } from '../feed/historyOf.js';
import type { Client } from '../client/Client.js';
import { interceptFeed, interceptRead, interceptSubmission } from '../client/intercept.js';
import { updates } from '../feed/updates.js';
import { progressOf, updatesCall } from '../feed/progress.js';
import { checkOptions, createLedgerFeed, type UpdatesAfter, type UpdatesOptions } from '../feed/UpdatesOptions.js';
import { decodeWith, exchange } from '../client/exchange.js';
import { offsetAt, type SearchedLedger, toTimestamp } from '../history/offsetAt.js';
import { type RetryPolicy, retryTransient } from '../http/retry.js';
import { execution } from '../submission/execute.js';
import { ledgerStarts } from '../submission/LedgerStarts.js';
import { prepare, submit } from '../submission/submit.js';
import { submissionCall } from '../submission/submitter.js';
import { commandSubmitter } from '../submission/submitCommands.js';
import { bindTo } from './clientOf.js';
import { readParties } from './readParties.js';
import type { Ledger, LedgerReader } from './Ledger.js';
import { createClient, type LedgerOptions } from './LedgerOptions.js';

/**
 * Creates a client of a participant's JSON Ledger API. The client sends nothing before the first subscription.
 *
 * @throws TypeError if an option is invalid, such as a `baseUrl` that is not an http(s) URL
 * @example
 * ```ts
 * import { createLedger } from 'canton-rx';
 *
 * const ledger = createLedger({
 *   baseUrl: 'http://127.0.0.1:7575',
 *   token: () => Promise.resolve('a-token-of-a-few-minutes'),
 * });
 * ledger.ledgerEnd().subscribe((offset) => {
 *   console.log(`the ledger ends at ${offset}`);
 * });
 * ```
 * @category Ledger
 */
export function createLedger(options: LedgerOptions): Ledger {
  return bindLedger(createClient(options), options);
}

/**
 * Creates a client that only reads a participant's ledger. It makes a program that does not submit a quarter smaller,
 * because bundlers omit the code for submissions.
 *
 * @throws TypeError if an option is invalid, such as a `baseUrl` that is not an http(s) URL
 * @example
 * ```ts
 * import { acsDelta, createLedgerReader } from 'canton-rx';
 *
 * const ledger = createLedgerReader({ baseUrl: 'http://127.0.0.1:7575' });
 * const request = { beginExclusive: 0, endInclusive: 20, updateFormat: acsDelta({ parties: 'any' }) };
 * ledger.updates(request).subscribe(({ offset }) => {
 *   console.log(offset);
 * });
 * ```
 * @category Ledger
 */
export function createLedgerReader(options: LedgerOptions): LedgerReader {
  return bindReader(createClient(options), options);
}

/** Creates the ledger of a client. */
function bindLedger(client: Client, { transport }: LedgerOptions): Ledger {
  const { retry } = client;
  const startsOf = ledgerStarts();
  const submitCommands = commandSubmitter(startsOf, retry);
  const prepared: Ledger['prepare'] = (request) => interceptRead(client, 'prepare', (its) => prepare(its, request));
  return {
    // bound to the client by its function `updates`
    ...bindReader(client, { transport }),
    completions: (request, options = {}) => {
      checkOptions(options);
      const complete = { ...options, transport: options.transport ?? transport };
      const { beginExclusive } = { ...request };
      return interceptFeed(
        client,
        { kind: 'completions', beginExclusive, isEndless: true },
        (its) => completions(its, request, complete, retry),
        progressOf,
      );
    },
    submitAndWaitForTransaction: (request, options) => {
      const { commandId } = { ...request };
      const call = () => submissionCall(client, 'submitAndWaitForTransaction', commandId ?? undefined);
      return interceptSubmission(client, call, submitCommands(request, options));
    },
    executeAndWaitForTransaction: (request, options = {}) => {
      const call = () => submissionCall(client, 'executeAndWaitForTransaction');
      return interceptSubmission(client, call, execution(startsOf, request, options, retry));
    },
    submit: (request, signer, options) => {
      const { commandId } = request;
      const call = () => submissionCall(client, 'submit', commandId);
      return interceptSubmission(client, call, submit(startsOf, request, signer, options, retry));
    },
    prepare: prepared,
    estimateCost: (request) =>
      prepared(request).pipe(
        concatMap(({ costEstimation }) => (costEstimation === undefined ? EMPTY : of(costEstimation))),
      ),
  };
}

function bindReader(client: Client, { transport }: Pick<LedgerOptions, 'transport'>): LedgerReader {
  const { retry } = client;
  const readUpdates = (
    request: UpdatesRequest | UpdatesAfter,
    options: UpdatesOptions = {},
  ): Observable<Update | UndecodedUpdate> => {
    checkOptions(options);
    const complete = { ...options, transport: options.transport ?? transport };
    return interceptFeed(
      client,
      updatesCall(request),
      (its) => defer(() => updates(createLedgerFeed(its, request, complete, retry, its.reportForNewFeed()))),
      progressOf,
    );
  };
  const ledger: LedgerReader = {
    // the overloads only relate `onUndecodable` to the type of the updates
    updates: readUpdates as LedgerReader['updates'],
    ledgerEnd: () => interceptRead(client, 'ledgerEnd', ledgerEnd),
    offsetAt: (time, { parties: whose = 'any' } = {}) => {
      const timestamp = toTimestamp(time);
      return interceptRead(client, 'offsetAt', (its) => defer(() => offsetAt(searched(its, whose, retry), timestamp)));
    },
    parties: () => interceptRead(client, 'parties', readParties),
    diagnostics$: client.diagnostics$,
  };
  return bindTo(ledger, { client, transport });
}

/** What a search reads of the updates of parties. */
function searched(
  client: Client,
  parties: readonly Party[] | 'any',
  ledgerRetry: RetryPolicy | undefined,
): SearchedLedger {
  // exercises, too, are updates
  const updateFormat = ledgerEffects({ parties });
  const request = { beginExclusive: 0, updateFormat };
  const feed = createLedgerFeed(client, request, {}, ledgerRetry, client.report);
  const path = '/v2/state/connected-synchronizers';
  return {
    ledgerEnd$: ledgerEnd(client).pipe(retryTransient(feed)),
    synchronizers$: exchange(client, { method: 'GET', path }, decodeWith(path, ConnectedSynchronizers)).pipe(
      map(({ connectedSynchronizers }) => connectedSynchronizers.map(({ synchronizerId }) => synchronizerId)),
      catchError((error: unknown) => {
        if (isUnavailable(error)) return [[]];
        throw error;
      }),
      retryTransient(feed),
    ),
    // what does not decode shows no time, and does not end the search
    read: (range, limit) => historyOf(feed).read(range, limit).pipe(retryTransient(feed)),
  };
}
