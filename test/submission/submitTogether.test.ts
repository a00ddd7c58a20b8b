import { expect, it } from '@jest/globals';
import { asyncScheduler, concatMap, delay, map, of, retry, timer } from 'rxjs';
import { createLedger, type PrepareRequest, type Signer } from '../../src/index.js';
import { type CommandFault, executePath } from '../helpers/CommandService.js';
import { observe } from '../helpers/observe.js';
import { scriptedService } from '../helpers/scripted.js';
import { marbles } from '../helpers/time.js';
import { signedHash, VirtualCommands } from '../helpers/virtualCommands.js';
import { ok } from '../helpers/wire.js';
import { signedRequest } from './support.js';

const [partySignatures] = signedRequest.partySignatures.signatures;
const { party = '', signatures = [] } = partySignatures ?? {};
const request: PrepareRequest = {
  commandId: 'order-1',
  actAs: [party],
  commands: [{ CreateCommand: { templateId: '#p:M:T', createArguments: {} } }],
};
const signer: Signer = { party, sign: () => of(signatures) };

/**
 * Subscribes twice to one submission, which the first one repeats at once if it fails. The first subscription ends after a second. The
 * hash of each preparation is another one: that of what is committed for the first one after the failures.
 */
const submitTwice = (faults: readonly CommandFault[], by: Signer = signer, laterMs = 0, failures = 0) =>
  marbles(({ flush }) => {
    const defaults = { kind: 'create', latencyMs: 10, hasCheckpoints: true, completions: 'completions' } as const;
    const node = new VirtualCommands({ ...defaults, faults });
    let prepared = 0;
    const service = scriptedService((sent) => {
      if (!sent.path.endsWith('/prepare')) return node.reply(sent);
      const preparedTransactionHash = Buffer.from(
        signedHash.map((byte) => byte + Math.abs(prepared - failures)),
      ).toString('base64');
      prepared += 1;
      const scheme = { hashingSchemeVersion: 'HASHING_SCHEME_VERSION_V2' };
      return of(ok({ ...scheme, preparedTransaction: preparedTransactionHash, preparedTransactionHash })).pipe(
        delay(10),
      );
    });
    const submitted$ = createLedger({ baseUrl: 'http://ledger.example', port: service.port }).submit(request, by, {
      verify: false,
      recover: { withinMs: 240_000 },
    });
    const second$ = laterMs === 0 ? submitted$ : timer(laterMs).pipe(concatMap(() => submitted$));
    const seen = [observe(submitted$.pipe(retry(1))), observe(second$)];
    asyncScheduler.schedule(() => seen[0]?.subscription.unsubscribe(), 1_000);
    flush();
    const executed = service.requests.filter(({ path }) => path === executePath);
    return { node, prepared, seen, bytes: new Set(executed.map(({ body }) => body['preparedTransaction'])) };
  });

it('is prepared and signed once for subscriptions at the same time', () => {
  const { node, prepared, seen, bytes } = submitTwice([]);
  expect(prepared).toBe(1);
  expect(bytes.size).toBe(1);
  expect(node.commits).toHaveLength(1);
  expect(seen.map(({ values }) => values.length)).toEqual([1, 1]);
});

it('is found by a subscription that is refused, if another one has committed it', () => {
  const { node, seen } = submitTwice([
    { kind: 'lostResponse', how: 'silence', afterMs: 10 },
    { kind: 'refused', code: 'DAML_AUTHORIZATION_ERROR' },
  ]);
  expect(node.commits).toHaveLength(1);
  expect(seen[1]).toMatchObject({ error: undefined, values: [{ offset: 11, isRepeated: true }] });
});

it('is prepared once for a subscription that begins again at once after a failure, and one that joins it', () => {
  let calls = 0;
  const sign: Signer['sign'] = () =>
    timer(50).pipe(
      map(() => {
        calls += 1;
        if (calls === 1) throw new Error('the device is locked');
        return signatures;
      }),
    );
  const { node, seen, prepared, bytes } = submitTwice(
    [
      { kind: 'lostResponse', how: 'silence', afterMs: 10 },
      { kind: 'refused', code: 'DAML_AUTHORIZATION_ERROR' },
    ],
    { party, sign },
    80,
    1,
  );
  expect([calls, prepared, bytes.size]).toEqual([2, 2, 1]);
  expect(node.commits).toHaveLength(1);
  expect(seen[1]).toMatchObject({ error: undefined, values: [{ offset: 11, isRepeated: true }] });
});
