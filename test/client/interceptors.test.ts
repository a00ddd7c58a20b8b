import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { lastValueFrom, NEVER, of, Subject, take, toArray } from 'rxjs';
import { type ActionRequest, automate } from '../../src/automation/index.js';
import { activeContracts, liveContracts } from '../../src/contracts/index.js';
import {
  acsDelta,
  createLedger,
  type Diagnostic,
  type Interceptor,
  type Ledger,
  type LedgerOptions,
} from '../../src/index.js';
import { clientOf } from '../../src/ledger/clientOf.js';
import { memoryStore, processFeed, updatesFeed } from '../../src/process/index.js';
import type { Sandbox } from '../../src/sandbox/index.js';
import { submittedBy } from '../../src/submission/submitter.js';
import { webSocketTransport } from '../../src/ws/index.js';
import { sandboxes } from '../helpers/localServers.js';
import { observe } from '../helpers/observe.js';
import { until } from '../helpers/time.js';
import { createAsset } from '../sandbox/commands.js';

const start = sandboxes();
const updateFormat = acsDelta({ parties: 'any' });
const token = 'the-secret-token';
const tenant = 'the-secret-tenant';

/** An interceptor that writes down each call, and how it ended. */
function recorder(name = '') {
  const calls: [hook: string, call: unknown][] = [];
  const ends: [hook: string, outcome: unknown][] = [];
  const note = (hook: string) => (call?: unknown) => {
    calls.push([`${name}${hook}`, call]);
    return {
      end: (outcome: unknown) => {
        ends.push([`${name}${hook}`, outcome]);
      },
      next: (progress: unknown) => {
        calls.push([`${name}next`, progress]);
      },
    };
  };
  const interceptor: Interceptor = {
    request: note('request'),
    socket: note('socket'),
    feed: note('feed'),
    handler: note('handler'),
    submission: note('submission'),
    read: note('read'),
    report: (diagnostic) => {
      calls.push([`${name}report`, diagnostic]);
    },
  };
  const of = (hook: string): unknown[] => calls.flatMap(([each, call]) => (each === hook ? [call] : []));
  return { interceptor, calls, ends, of };
}

const ledgerOf = (sandbox: Sandbox, options: Partial<LedgerOptions>): Ledger =>
  createLedger({ baseUrl: sandbox.url, token, headers: { 'x-tenant': tenant }, retry: { baseDelayMs: 5 }, ...options });

const submitCopyOf = (ledger: Ledger, request: ActionRequest) => ledger.submitAndWaitForTransaction({ ...request });

/** Uses each method of a ledger. Returns what it emits. */
async function useAll(ledger: Ledger, sandbox: Sandbox): Promise<readonly unknown[]> {
  const alice = sandbox.hostedParty('alice');
  const command = { commandId: 'c-1', userId: 'app', actAs: [alice], commands: [createAsset(alice)] } as const;
  const { offset } = await lastValueFrom(ledger.submitAndWaitForTransaction(command));
  const request = { beginExclusive: 0, endInclusive: offset, updateFormat };
  const feed = updatesFeed(ledger, request);
  return [
    offset,
    await lastValueFrom(ledger.ledgerEnd()),
    await lastValueFrom(ledger.updates(request).pipe(toArray())),
    await lastValueFrom(ledger.completions({ parties: [alice], userId: 'app', beginExclusive: 0 }).pipe(take(1))),
    await lastValueFrom(processFeed(feed, () => undefined, { name: 'p', store: memoryStore() }).pipe(toArray())),
    await lastValueFrom(processFeed(feed, () => of(1)).pipe(toArray())),
    await lastValueFrom(activeContracts(ledger, { parties: [alice] }).pipe(toArray())),
    await lastValueFrom(
      liveContracts(ledger, { parties: [alice] })
        .all$()
        .pipe(take(1)),
    ),
    await lastValueFrom(ledger.offsetAt(new Date())),
  ];
}

/** What it emits. */
const allResults = [
  ...[1, 1, [{ _tag: 'Transaction', offset: 1 }], { _tag: 'Completion', commandId: 'c-1' }],
  ...[
    [{ handled: 0 }, { handled: 1 }],
    [{ handled: 0 }, { handled: 1 }],
  ],
  ...[[{ _tag: 'ActiveContract' }], [{ _tag: 'Contract' }], 1],
];

describe('an interceptor', () => {
  it('sees each kind of call and how it ended', async () => {
    const sandbox = await start();
    const { interceptor, ends, of: callsOf } = recorder();
    const ledger = ledgerOf(sandbox, { interceptors: [interceptor] });
    await useAll(ledger, sandbox);
    const endless = { isEndless: true };
    expect(callsOf('feed')).toEqual([
      { kind: 'updates', beginExclusive: 0, isEndless: false },
      { kind: 'completions', beginExclusive: 0, ...endless },
      { kind: 'updates', isEndless: false, processor: { name: 'p' } },
      { kind: 'updates', isEndless: false, processor: { name: undefined } },
      { kind: 'contracts', isEndless: false },
      { kind: 'contracts', ...endless },
    ]);
    expect(callsOf('submission')).toEqual([{ method: 'submitAndWaitForTransaction', commandId: 'c-1' }]);
    expect(callsOf('read')).toEqual([{ method: 'ledgerEnd' }, { method: 'offsetAt' }]);
    expect(callsOf('handler')).toMatchObject([
      { processor: 'p', isBatch: false, items: [{ _tag: 'Transaction', offset: 1 }] },
      { isBatch: false, items: [{ _tag: 'Transaction', offset: 1, updateId: expect.any(String) }] },
    ]);
    expect(callsOf('request')).toContainEqual({
      method: 'GET',
      path: '/v2/state/ledger-end',
      url: `${sandbox.url}/v2/state/ledger-end`,
      range: undefined,
    });
    expect(callsOf('report').length).toBeGreaterThan(5);
    expect(callsOf('next')).toContainEqual(expect.objectContaining({ _tag: 'Committed', offset: 1 }));
    const outcomes = (hook: string) => ends.flatMap(([each, outcome]) => (each === hook ? [outcome] : []));
    expect(outcomes('submission')).toMatchObject([{ how: 'succeeded', transaction: { offset: 1 } }]);
    expect(outcomes('feed')).toEqual([
      { how: 'completed' },
      { how: 'unsubscribed' },
      { how: 'completed' },
      { how: 'completed' },
      { how: 'completed' },
      { how: 'unsubscribed' },
    ]);
    expect(outcomes('handler')).toEqual([{ how: 'succeeded' }, { how: 'completed' }]);
    expect(outcomes('request')).toContainEqual({
      how: 'succeeded',
      status: 200,
      lastOffset: 1,
      durationMs: expect.any(Number),
    });
  });

  it.each([
    ['ledger', () => ({})],
    // the request reaches the ledger as another object
    ['function of the caller', (its: Ledger) => ({ submit: (request: ActionRequest) => submitCopyOf(its, request) })],
  ] as const)('sees the rule and the contract of an action that a %s submits', async (_, optionsWith) => {
    const sandbox = await start();
    const { interceptor, of: callsOf } = recorder();
    const ledger = ledgerOf(sandbox, { interceptors: [interceptor] });
    const alice = sandbox.hostedParty('alice');
    await lastValueFrom(
      ledger.submitAndWaitForTransaction({ userId: 'app', actAs: [alice], commands: [createAsset(alice)] }),
    );
    const templateId = '#sandbox-assets:Main:Asset';
    const acted$ = automate(
      ledger,
      {
        name: 'sweep',
        query: { parties: [alice] },
        actAs: [alice],
        userId: 'app',
        act: ({ contractId }) => ({
          ExerciseCommand: { templateId, contractId, choice: 'Archive', choiceArgument: {} },
        }),
      },
      optionsWith(ledger),
    );
    const { contractId } = await lastValueFrom(acted$.pipe(take(1)));
    const [byCaller, byRule] = callsOf('submission');
    expect(byCaller).not.toHaveProperty('action');
    expect(byRule).toMatchObject({ commandId: `sweep:${contractId}`, action: { rule: 'sweep', contractId } });
    const sent = callsOf('report').filter((each) => (each as Diagnostic)._tag === 'SubmissionSent');
    expect(sent.map((each) => (each as Diagnostic).rule)).toEqual([undefined, 'sweep']);
  });

  it('sees the outbox of a command', async () => {
    const sandbox = await start();
    const { interceptor, of: callsOf } = recorder();
    const ledger = ledgerOf(sandbox, { interceptors: [interceptor] });
    const alice = sandbox.hostedParty('alice');
    const request = { commandId: 'c-1', userId: 'app', actAs: [alice], commands: [createAsset(alice)] } as const;
    const submission$ = ledger.submitAndWaitForTransaction(request);
    await lastValueFrom(submittedBy(clientOf(ledger), { outbox: 'invoices' }, 'c-1', submission$));
    expect(callsOf('submission')).toMatchObject([{ commandId: 'c-1', outbox: 'invoices' }]);
    // and no longer
    await lastValueFrom(submission$);
    expect(callsOf('submission')[1]).not.toHaveProperty('outbox');
  });

  it('sees the sockets of a transport, and adds headers to them', async () => {
    const sandbox = await start({ profile: '3.5' });
    const { interceptor, of: callsOf } = recorder();
    const headers = { 'x-correlation-id': 'c-7' };
    const sent: unknown[] = [];
    const transport = webSocketTransport({
      port: (request) => {
        sent.push(request.headers);
        return NEVER;
      },
    });
    const interceptors = [interceptor, { socket: () => ({ headers }) }];
    const feed = observe(
      ledgerOf(sandbox, { interceptors, transport }).updates(
        { beginExclusive: 0, updateFormat },
        { idleTimeoutMs: 20 },
      ),
    );
    await until(() => sent.length > 0);
    feed.subscription.unsubscribe();
    expect(sent).toEqual([{ ...headers, authorization: `Bearer ${token}`, 'x-tenant': tenant }]);
    expect(callsOf('socket')).toMatchObject([{ path: '/v2/updates/flats' }]);
  });

  it('adds headers that arrive, and replaces none of the request', async () => {
    const sandbox = await start();
    const arrived: Headers[] = [];
    const recordingFetch: typeof fetch = (input, init) => {
      arrived.push(new Request(input, init).headers);
      return fetch(input, init);
    };
    const request = (): object => ({
      headers: { 'X-Correlation-Id': 'c-7', authorization: 'Bearer other', 'x-tenant': 'other', tracestate: undefined },
    });
    const ledger = ledgerOf(sandbox, { interceptors: [{ request }], fetch: recordingFetch });
    await lastValueFrom(ledger.ledgerEnd());
    expect(Object.fromEntries(arrived[0] ?? [])).toMatchObject({
      'x-correlation-id': 'c-7',
      authorization: `Bearer ${token}`,
      'x-tenant': tenant,
    });
    expect(arrived[0]?.has('tracestate')).toBe(false);
  });

  it('sees no token, no header and no payload', async () => {
    const sandbox = await start();
    const { interceptor, calls, ends } = recorder();
    await useAll(ledgerOf(sandbox, { interceptors: [interceptor] }), sandbox);
    const seen = inspect([calls, ends], { depth: 20, maxArrayLength: Infinity });
    for (const secret of [token, tenant, 'createArgument', '10.0']) expect(seen).not.toContain(secret);
  });

  it('may hold a request back from no one: results pass when it neither runs nor emits', async () => {
    const sandbox = await start();
    const silent = { run: () => undefined, emit: () => undefined };
    const parts = { request: () => silent, handler: () => silent };
    const interceptors = [{ ...parts, feed: () => silent, read: () => silent, submission: () => silent }];
    expect(await useAll(ledgerOf(sandbox, { interceptors }), sandbox)).toMatchObject(allResults);
  });

  it('calls what it is given once, however often it tries', async () => {
    const sandbox = await start();
    const twice = (work: () => void): void => {
      work();
      work();
    };
    const interceptors = [{ read: () => ({ run: twice, emit: twice }), request: () => ({ run: twice, emit: twice }) }];
    const ledger = ledgerOf(sandbox, { interceptors });
    expect(await lastValueFrom(ledger.ledgerEnd().pipe(toArray()))).toEqual([0]);
    expect(sandbox.requests).toHaveLength(1);
  });

  const failures: readonly [string, () => unknown][] = [
    [
      'throws',
      () => {
        throw new Error('of the interceptor');
      },
    ],
    // a rejection that nothing handles fails the test
    ['rejects', () => Promise.reject(new Error('of the interceptor'))],
  ];

  describe.each(failures)('that %s', (_, fail) => {
    it.each(['forLedger', 'request', 'feed', 'handler', 'submission', 'read', 'report'])(
      'in %s changes nothing',
      async (hook) => {
        const sandbox = await start();
        const interceptors = [{ [hook]: fail } as Interceptor];
        expect(await useAll(ledgerOf(sandbox, { interceptors }), sandbox)).toMatchObject(allResults);
      },
    );
  });

  it.each(failures)('that %s in what it has added changes nothing', async (_, fails) => {
    const sandbox = await start();
    const fail = fails as () => never;
    const added = { run: fail, emit: fail, end: fail, next: fail, report: fail, request: fail, handler: fail };
    const interceptors = [{ feed: () => added, read: () => added, submission: () => added }];
    expect(await useAll(ledgerOf(sandbox, { interceptors }), sandbox)).toMatchObject(allResults);
  });

  it('ends a feed, which then neither emits nor completes', () => {
    const until$ = new Subject<void>();
    const port = () => of({ status: 503, headers: {}, text: '' });
    const interceptors = [{ feed: () => ({ until$ }) }];
    const ledger = createLedger({ baseUrl: 'http://ledger.example', port, interceptors });
    const seen = observe(ledger.updates({ beginExclusive: 0, updateFormat }));
    until$.next();
    expect(until$.observed).toBe(false);
    expect(seen).toMatchObject({ values: [], completed: false, error: undefined });
  });
});

describe('several interceptors', () => {
  it('are composed in order: the first one is the outermost', async () => {
    const order: string[] = [];
    const noting = (name: string): Interceptor => ({
      read: () => {
        order.push(`${name} read`);
        return {
          run: (work) => {
            order.push(`${name} begins`);
            work();
          },
          emit: (deliver) => {
            order.push(`${name} emits`);
            deliver();
          },
          end: ({ how }) => {
            order.push(`${name} ${how}`);
          },
        };
      },
      request: () => ({ headers: { 'x-name': name } }),
    });
    const port = () => of({ status: 200, headers: {}, text: '{"offset":7}' });
    const interceptors = [noting('outer'), noting('inner')];
    const ledger = createLedger({ baseUrl: 'http://ledger.example', port, interceptors });
    expect(await lastValueFrom(ledger.ledgerEnd())).toBe(7);
    expect(order.slice(0, 8)).toEqual([
      'outer read',
      'inner read',
      'outer begins',
      'inner begins',
      'inner succeeded',
      'inner emits',
      'outer succeeded',
      'outer emits',
    ]);
  });

  it('have scopes of their own: what one adds to an operation sees its requests alone', async () => {
    const seen: string[] = [];
    const scoped: Interceptor = {
      request: () => {
        seen.push('outside');
        return undefined;
      },
      read: ({ method }) => ({
        request: ({ path }) => {
          seen.push(`${method}: ${path}`);
          return undefined;
        },
      }),
    };
    const other: Interceptor = {
      request: () => {
        seen.push('other');
        return undefined;
      },
    };
    const port = () => of({ status: 200, headers: {}, text: '{"offset":7}' });
    const ledger = createLedger({ baseUrl: 'http://ledger.example', port, interceptors: [scoped, other] });
    await lastValueFrom(ledger.ledgerEnd());
    expect(seen).toEqual(['ledgerEnd: /v2/state/ledger-end', 'other']);
  });
});

it('an interceptor for each ledger gets its address', () => {
  const addresses: unknown[] = [];
  const forLedger: Interceptor['forLedger'] = (ledger) => {
    addresses.push(ledger.address);
    return {};
  };
  createLedger({ baseUrl: 'http://ledger.example', interceptors: [{ forLedger }] });
  createLedger({ baseUrl: ['http://a.example', 'http://b.example'], interceptors: [{ forLedger }] });
  expect(addresses).toEqual(['http://ledger.example', undefined]);
});
