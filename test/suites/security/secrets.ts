import { catchError, EMPTY, forkJoin, lastValueFrom, type Observable, take, tap, toArray } from 'rxjs';
import type { ExecuteRequest } from '../../../src/codecs/ExecuteRequest.js';
import type { PrepareRequest } from '../../../src/codecs/SubmissionRequest.js';
import { acsDelta } from '../../../src/codecs/UpdateFormat.js';
import { createLedger } from '../../../src/ledger/createLedger.js';
import type { LedgerOptions } from '../../../src/ledger/LedgerOptions.js';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** Secrets that a client sends. */
export const sent = {
  token: 'TOKEN-SECRET-7e1fd3b2c4a5',
  header: 'HEADER-SECRET-0b9d8a7c6e5f',
  signature: base64('a signature that nobody may see'),
  preparedTransaction: base64('a prepared transaction that nobody may see'),
  argument: 'ARGUMENT-SECRET-1a2b3c4d5e6f',
};

/** A secret in the ledger's answers, for their subscriber only. */
export const payload = 'PAYLOAD-SECRET-f6e5d4c3b2a1';

export const allSecrets = [...Object.values(sent), payload];

const party = 'alice::1220ab';
export const updateFormat = acsDelta({ parties: [party] });

export const prepareRequest: PrepareRequest = {
  commandId: 'c1',
  commands: [{ CreateCommand: { templateId: '#p:M:T', createArguments: { note: sent.argument } } }],
  actAs: [party],
};

export const executeRequest: ExecuteRequest = {
  preparedTransaction: sent.preparedTransaction,
  hashingSchemeVersion: 'HASHING_SCHEME_VERSION_V2',
  partySignatures: {
    signatures: [
      {
        party,
        signatures: [
          {
            format: 'SIGNATURE_FORMAT_RAW',
            signature: sent.signature,
            signedBy: '1220ab',
            signingAlgorithmSpec: 'SIGNING_ALGORITHM_SPEC_ED25519',
          },
        ],
      },
    ],
  },
};

/** What a ledger emitted and reported. */
export interface Emissions {
  readonly errors: unknown[];
  readonly events: unknown[];
  readonly values: unknown[];
}

/** A retry budget that is spent at once. */
export const shortRetry = { baseDelayMs: 1, giveUpAfterMs: 8 };

/** Calls every method of a ledger, or `updates` alone, with secrets. */
export async function callLedger(options: LedgerOptions, methods: 'all' | 'updates' = 'all'): Promise<Emissions> {
  const ledger = createLedger({
    token: sent.token,
    headers: { 'x-api-key': sent.header },
    retry: shortRetry,
    requestTimeoutMs: 2_000,
    ...options,
  });
  const emissions: Emissions = { errors: [], events: [], values: [] };
  const subscription = ledger.diagnostics$.subscribe((event) => emissions.events.push(event));
  const collect = (source$: Observable<unknown>): Observable<unknown> =>
    source$.pipe(
      tap((value) => emissions.values.push(value)),
      catchError((error: unknown) => {
        emissions.errors.push(error);
        return EMPTY;
      }),
      toArray(),
    );
  const request = { beginExclusive: 0, updateFormat };
  await lastValueFrom(
    forkJoin([
      collect(ledger.updates(request).pipe(take(3))),
      collect(ledger.updates(request, { onUndecodable: 'emit' }).pipe(take(3))),
      ...(methods === 'updates'
        ? []
        : [
            collect(ledger.prepare(prepareRequest)),
            collect(ledger.executeAndWaitForTransaction(executeRequest, { recover: false })),
            collect(ledger.ledgerEnd()),
          ]),
    ]),
  );
  subscription.unsubscribe();
  return emissions;
}
