import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { catchError, EMPTY, lastValueFrom, merge, take, throwError, toArray, type Observable } from 'rxjs';
import { type Ledger, memoryStore, type Signer } from '../../src/index.js';
import { createTracedLedger } from '../../src/otel/index.js';
import { cantonError, type Fault, type Sandbox } from '../../src/sandbox/index.js';
import { impatient } from '../suites/security/asked.js';
import { all, executeRequest, payload, prepareRequest, sent, updateFormat } from '../suites/security/secrets.js';
import { sandboxes } from '../helpers/sandboxes.js';
import { sdk, withContexts } from './support.js';

const start = sandboxes();
const contexts = withContexts();
beforeEach(contexts.enable);
afterEach(contexts.disable);

/** Whatever is asked of a ledger, its words of failure not among what is of interest. */
const allOf = (ledger: Ledger, party: string, signer: Signer): Observable<unknown> => {
  const request = { beginExclusive: 0, updateFormat: { ...updateFormat } };
  const failing = (): Observable<never> => throwError(() => new Error(payload));
  const handlerRetry = { baseDelayMs: 1, giveUpAfterMs: 3 };
  const park = { name: 'balances', store: memoryStore(), onPoison: 'park', handlerRetry } as const;
  const submission = { ...prepareRequest, actAs: [party] };
  return merge(
    ...[
      ledger.updates(request).pipe(take(1)),
      ledger.updates(request, { onInvalid: 'emit' }).pipe(take(1)),
      ledger.process(request, failing, park).pipe(take(2)),
      ledger.prepare(submission),
      ledger.submit(submission, signer, { verify: false, recover: false }),
      ledger.submit(submission, signer, { verify: () => failing(), recover: false }),
      ledger.executeAndWaitForTransaction(executeRequest, { recover: false }),
      ledger.ledgerEnd(),
    ].map((source$: Observable<unknown>) => source$.pipe(catchError(() => EMPTY))),
  );
};

const words = [sent.token, sent.header, sent.argument, payload, sent.signature, sent.preparedTransaction].join(' ');
const troubles: readonly (readonly [string, Fault | undefined])[] = [
  ['answers well', undefined],
  [
    'refuses, with all of it in its words',
    { kind: 'status', status: 400, body: cantonError('INVALID_ARGUMENT', { cause: words }) },
  ],
  ['has all of it for a code', { kind: 'status', status: 400, body: cantonError(words) }],
  ['has it for a code that looks like one', { kind: 'status', status: 400, body: cantonError(`${payload} `) }],
  ['is a proxy that quotes', { kind: 'status', status: 502, body: words }],
  ['answers what does not decode', { kind: 'body', body: JSON.stringify([{ update: { [words]: { value: words } } }]) }],
  ['answers nothing', { kind: 'reset' }],
];

describe('what is exported of a service that', () => {
  it.each(troubles)('%s holds no secret', async (_, fault) => {
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
      retry: impatient,
    };
    await lastValueFrom(allOf(createTracedLedger(options, telemetry), alice.party, signer).pipe(toArray()));
    const exported = await telemetry.exported();
    expect(telemetry.spans().length).toBeGreaterThan(5);
    for (const secret of all) expect(exported).not.toContain(secret);
    // nor the party that is asked for
    expect(exported).not.toContain('alice::');
  });
});
