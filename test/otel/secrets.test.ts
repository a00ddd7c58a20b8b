import { describe, expect, it } from '@jest/globals';
import { catchError, EMPTY, lastValueFrom, merge, type Observable, take, throwError, toArray } from 'rxjs';
import type { Ledger, Signer } from '../../src/index.js';
import { memoryStore, processFeed, updatesFeed } from '../../src/process/index.js';
import { cantonError, type Fault, type Sandbox } from '../../src/sandbox/index.js';
import {
  allSecrets,
  executeRequest,
  shortRetry,
  payload,
  prepareRequest,
  sent,
  updateFormat,
} from '../suites/security/secrets.js';
import { ledgerWith, sdk, withContexts } from './support.js';
import { sandboxes } from '../helpers/localServers.js';

const start = sandboxes();
withContexts();

/** Calls every method of a ledger and ignores the errors. */
const callAll = (ledger: Ledger, party: string, signer: Signer): Observable<unknown> => {
  const request = { beginExclusive: 0, updateFormat: { ...updateFormat } };
  const failing = (): Observable<never> => throwError(() => new Error(payload));
  const handlerRetry = { baseDelayMs: 1, giveUpAfterMs: 3 };
  const park = { name: 'balances', store: memoryStore(), onHandlerFailure: 'park', handlerRetry } as const;
  const submission = { ...prepareRequest, actAs: [party] };
  return merge(
    ...[
      ledger.updates(request).pipe(take(1)),
      ledger.updates(request, { onUndecodable: 'emit' }).pipe(take(1)),
      processFeed(updatesFeed(ledger, request), failing, park).pipe(take(2)),
      ledger.prepare(submission),
      ledger.submit(submission, signer, { verify: false, recover: false }),
      ledger.submit(submission, signer, { verify: () => failing(), recover: false }),
      ledger.executeAndWaitForTransaction(executeRequest, { recover: false }),
      ledger.ledgerEnd(),
    ].map((source$: Observable<unknown>) => source$.pipe(catchError(() => EMPTY))),
  );
};

const secretText = [sent.token, sent.header, sent.argument, payload, sent.signature, sent.preparedTransaction].join(
  ' ',
);
const faults: readonly (readonly [string, Fault | undefined])[] = [
  ['answers', undefined],
  [
    'refuses, and quotes all of it',
    { kind: 'status', status: 400, body: cantonError('INVALID_ARGUMENT', { cause: secretText }) },
  ],
  ['has all of it in its code', { kind: 'status', status: 400, body: cantonError(secretText) }],
  ['has the payload as its code', { kind: 'status', status: 400, body: cantonError(`${payload} `) }],
  ['is behind a proxy that quotes all of it', { kind: 'status', status: 502, body: secretText }],
  [
    'answers what does not decode',
    { kind: 'body', body: JSON.stringify([{ update: { [secretText]: { value: secretText } } }]) },
  ],
  ['resets the connection', { kind: 'reset' }],
];

describe('telemetry of a service that', () => {
  it.each(faults)('%s contains no secret', async (_, fault) => {
    const sandbox: Sandbox = await start();
    const alice = sandbox.externalParty('alice');
    const create = { CreatedEvent: { createArgument: { note: payload }, witnessParties: [alice.party] } };
    sandbox.append({ Transaction: { value: { events: [create] } } });
    const signer: Signer = {
      party: alice.party,
      sign: (hash) => Promise.resolve(alice.sign(Buffer.from(hash).toString('base64'))),
    };
    if (fault !== undefined) sandbox.fault(fault, { path: /./, times: 1_000 });
    const telemetry = sdk();
    const options = {
      baseUrl: sandbox.url,
      token: sent.token,
      headers: { 'x-api-key': sent.header },
      retry: shortRetry,
    };
    await lastValueFrom(callAll(ledgerWith(options, telemetry), alice.party, signer).pipe(toArray()));
    const exported = await telemetry.exported();
    expect(telemetry.spans().length).toBeGreaterThan(5);
    for (const secret of allSecrets) expect(exported).not.toContain(secret);
    // parties are not exported either
    expect(exported).not.toContain('alice::');
  });
});
