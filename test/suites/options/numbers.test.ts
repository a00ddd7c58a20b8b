import type { NatsConnection } from '@nats-io/nats-core';
import { describe, expect, it } from '@jest/globals';
import { Pool } from 'pg';
import { NEVER } from 'rxjs';
import { activeContracts, conflate, contractChanges, liveContracts } from '../../../src/contracts/index.js';
import { awaitIngested, createLedger, createLedgerReader } from '../../../src/index.js';
import { natsFeed, natsRelay } from '../../../src/nats/index.js';
import { commandOutbox, contractsProjection, migrateProjection, postgresStore } from '../../../src/postgres/index.js';
import { contractsFeed, isReady, memoryStore, processFeed, updatesFeed } from '../../../src/process/index.js';
import type { Fault, Sandbox } from '../../../src/sandbox/index.js';
import { remoteContracts, toServerSentEvents } from '../../../src/sse/index.js';
import { undiciPort } from '../../../src/undici/index.js';
import { preparedTransactionVerifier } from '../../../src/verify/index.js';
import { webSocketTransport as browserTransport } from '../../../src/ws/browser.js';
import { webSocketTransport } from '../../../src/ws/index.js';
import { sandboxes } from '../../helpers/localServers.js';
import { updateFormat } from '../../helpers/world.js';
import { signedRequest } from '../../submission/support.js';

const start = sandboxes();
const port = () => NEVER;
const connect = { baseUrl: 'http://ledger.example', port };
const ledger = createLedger(connect);
const request = { beginExclusive: 0, updateFormat };
const query = { parties: 'any' } as const;
const pool = new Pool();
const connection = {} as NatsConnection;
const feed = updatesFeed(ledger, request);
const run = (options: object) => processFeed(feed, () => undefined, options);
const named = (options: object) => run({ name: 'p', store: memoryStore(), ...options });
const status = { role: 'starting', handled: 0, updatesPerSecond: 0, at: 0 } as const;

/** Which numbers an option takes: beside NaN, text and negative numbers it may refuse 0 and fractions. */
type Kind = 'positive' | 'not negative' | 'count';

/** An option by its name, and a call with it. The types exclude what JavaScript callers may pass. */
const options: readonly (readonly [string, Kind, (value: never) => unknown])[] = [
  ...(['requestTimeoutMs', 'maxResponseBytes'] as const).flatMap((name) => [
    [name, 'positive', (value: never) => createLedger({ ...connect, [name]: value })] as const,
    [name, 'positive', (value: never) => createLedgerReader({ ...connect, [name]: value })] as const,
  ]),
  ['serverTimeoutMs', 'count', (serverTimeoutMs) => createLedger({ ...connect, serverTimeoutMs })],
  ['serverTimeoutMs', 'count', (serverTimeoutMs) => createLedgerReader({ ...connect, serverTimeoutMs })],
  ['baseDelayMs', 'positive', (baseDelayMs) => createLedger({ ...connect, retry: { baseDelayMs } })],
  ['maxDelayMs', 'positive', (maxDelayMs) => ledger.updates(request, { retry: { maxDelayMs } })],
  ['giveUpAfterMs', 'not negative', (giveUpAfterMs) => createLedger({ ...connect, retry: { giveUpAfterMs } })],
  ['maxPageSize', 'count', (maxPageSize) => ledger.updates(request, { maxPageSize })],
  ['idleTimeoutMs', 'count', (idleTimeoutMs) => ledger.updates(request, { idleTimeoutMs })],
  ['parallelRanges', 'count', (parallelRanges) => ledger.updates(request, { parallelRanges })],
  ['withinMs', 'positive', (withinMs) => ledger.executeAndWaitForTransaction(signedRequest, { recover: { withinMs } })],
  ['offset', 'not negative', (offset) => awaitIngested(offset)],
  ['maxSnapshotPageSize', 'count', (maxSnapshotPageSize) => activeContracts(ledger, query, { maxSnapshotPageSize })],
  ['maxPageSize', 'count', (maxPageSize) => contractChanges(ledger, query, { maxPageSize })],
  ['giveUpAfterMs', 'not negative', (giveUpAfterMs) => liveContracts(ledger, query, { retry: { giveUpAfterMs } })],
  ['period', 'positive', (period) => conflate(liveContracts(ledger, query), period)],
  ['heartbeatMs', 'positive', (heartbeatMs) => toServerSentEvents(NEVER, { heartbeatMs })],
  ['maxBuffered', 'count', (maxBuffered) => toServerSentEvents(NEVER, { maxBuffered })],
  ['keepMs', 'not negative', (keepMs) => toServerSentEvents(NEVER, { keepMs })],
  ['idleTimeoutMs', 'positive', (idleTimeoutMs) => remoteContracts('http://app.example', {}, { idleTimeoutMs })],
  ['maxEventLength', 'count', (maxEventLength) => remoteContracts('http://app.example', {}, { maxEventLength })],
  ['batchSize', 'count', (batchSize) => contractsFeed(ledger, query, { batchSize })],
  ['stopWithinMs', 'not negative', (stopWithinMs) => run({ stopWithinMs })],
  ['storeTimeoutMs', 'positive', (storeTimeoutMs) => named({ storeTimeoutMs })],
  ['commitEvery.ms', 'positive', (ms) => named({ commitEvery: { ms } })],
  ['commitEvery.updates', 'count', (updates) => named({ commitEvery: { updates } })],
  ['batch.size', 'count', (size) => named({ batch: { size, withinMs: 0 } })],
  ['batch.withinMs', 'not negative', (withinMs) => named({ batch: { size: 1, withinMs } })],
  ['handlerRetry.maxDelayMs', 'positive', (maxDelayMs) => run({ handlerRetry: { maxDelayMs } })],
  ['maxLagOffsets', 'not negative', (maxLagOffsets) => isReady({ ...status, state: 'waiting' }, { maxLagOffsets })],
  ['maxAgeMs', 'not negative', (maxAgeMs) => isReady({ ...status, state: 'waiting' }, { maxAgeMs })],
  ['maxBehindMs', 'not negative', (maxBehindMs) => isReady({ ...status, state: 'waiting' }, { maxBehindMs })],
  ['pollMs', 'positive', (pollMs) => postgresStore({ pool, pollMs })],
  ['timeoutMs', 'positive', (timeoutMs) => postgresStore({ pool, timeoutMs })],
  ['timeoutMs', 'positive', (timeoutMs) => migrateProjection({ pool, timeoutMs })],
  ['keepArchivedMs', 'not negative', (keepArchivedMs) => contractsProjection({ pool, query, keepArchivedMs })],
  ['ackWaitMs', 'positive', (ackWaitMs) => natsFeed({ connection, stream: 's', durable: 'd', ackWaitMs })],
  ['timeoutMs', 'positive', (timeoutMs) => natsFeed({ connection, stream: 's', durable: 'd', timeoutMs })],
  ['maxPageSize', 'count', (maxPageSize) => natsFeed({ connection, stream: 's', durable: 'd', maxPageSize })],
  ['timeoutMs', 'positive', (timeoutMs) => natsRelay({ connection, stream: 's', timeoutMs })],
  ['replicas', 'count', (replicas) => natsRelay({ connection, stream: 's', replicas })],
  ...[webSocketTransport, browserTransport].flatMap((transport) => [
    ['pingEveryMs', 'positive', (pingEveryMs: never) => transport({ pingEveryMs, port })] as const,
    ['maxMessageBytes', 'positive', (maxMessageBytes: never) => transport({ maxMessageBytes, port })] as const,
  ]),
  ['pingEveryMs', 'positive', (pingEveryMs) => webSocketTransport({ pingEveryMs })],
  ['maxResponseBytes', 'positive', (maxResponseBytes) => undiciPort({ maxResponseBytes })],
  ['maxClockSkewMs', 'positive', (maxClockSkewMs) => preparedTransactionVerifier({ maxClockSkewMs })],
];

const invalid = (kind: Kind): readonly unknown[] => [
  NaN,
  -1,
  -0.5,
  -Infinity,
  '5',
  '',
  true,
  5n,
  [5],
  ...(kind === 'not negative' ? [] : [0]),
  ...(kind === 'count' ? [1.5] : []),
];

describe('an option that is a number', () => {
  it.each(options)('%s, which is %s, is refused at once if it is another value', (_, kind, call) => {
    for (const value of invalid(kind)) expect([value, () => call(value as never)]).toEqual([value, throwsTypeError]);
  });

  it('recover of a submission is refused at once if it is neither false nor has a time', () => {
    const commands = [{ CreateCommand: { templateId: '#p:M:E', createArguments: {} } }];
    const submission = { commandId: 'c', actAs: ['alice::1220ab'], commands } as const;
    const signer = { party: 'alice::1220ab', sign: () => NEVER };
    const calls: readonly ((recover: never) => unknown)[] = [
      (recover) => ledger.submitAndWaitForTransaction(submission, { recover }),
      (recover) => ledger.submit(submission, signer, { verify: false, recover }),
      (recover) => ledger.executeAndWaitForTransaction(signedRequest, { recover }),
      (recover) => commandOutbox({ pool }).submitAll(ledger, { recover }),
    ];
    for (const recover of [{}, { withinMs: undefined }, { withinMs: NaN }, null, true, 5, '5'])
      for (const call of calls) expect([recover, () => call(recover as never)]).toEqual([recover, throwsTypeError]);
  });

  it.each([
    ...['maxListElements', 'listWaitTimeMs', 'requestTimeoutMs', 'preparationTimeToleranceMs', 'ledgerTimeToleranceMs'],
    ...['idleCheckpointMs', 'earlyCheckpointMs', 'webSocketIdleMs', 'defaultDeduplicationMs', 'archiveLagMs'],
    'contention',
  ])('%s of a sandbox is refused at once if it is negative or not a number', async (name) => {
    const sandbox = await start();
    for (const value of invalid('not negative')) {
      const configure = (): void => {
        sandbox.configure({ [name]: value });
      };
      expect([value, configure]).toEqual([value, throwsTypeError]);
      await expect(start({ [name]: value })).rejects.toThrow(TypeError);
    }
  });

  it.each<[string, (value: never) => Fault]>([
    ['ms', (ms) => ({ kind: 'delay', ms })],
    ['bytes', (bytes) => ({ kind: 'truncate', bytes })],
    ['elements', (elements) => ({ kind: 'socket', how: 'close', elements })],
  ])('%s of a fault is refused at once if it is not a number', async (_, faultWith) => {
    await expectRefusal((sandbox, value) => {
      sandbox.fault(faultWith(value));
    });
  });

  it.each(['after', 'times'])('%s of the scope of a fault is refused at once if it is not a number', async (name) => {
    await expectRefusal((sandbox, value) => {
      sandbox.fault({ kind: 'hang' }, { [name]: value });
    });
  });

  it.each<[string, (sandbox: Sandbox, value: never) => unknown]>([
    ['count', (sandbox, count) => sandbox.generate(count)],
    ['seed', (sandbox, seed) => sandbox.generate(1, { seed })],
  ])('%s of generated traffic is refused at once if it is not a number', (_, call) => expectRefusal(call));

  it.each<[string, (sandbox: Sandbox, offset: never) => unknown]>([
    [
      'prune',
      (sandbox, offset) => {
        sandbox.prune(offset);
      },
    ],
    [
      'restore',
      (sandbox, offset) => {
        sandbox.restore(offset);
      },
    ],
    [
      'restore with readAgain',
      (sandbox, offset) => {
        sandbox.restore(offset, { readAgain: true });
      },
    ],
  ])('an offset of a sandbox is refused at once if it is not one: %s', async (_, call) => {
    const sandbox = await start();
    sandbox.generate(5);
    const end = sandbox.ledgerEnd;
    for (const value of [...invalid('count').filter((each) => each !== 0), Infinity])
      expect([value, () => call(sandbox, value as never)]).toEqual([value, throwsTypeError]);
    expect(sandbox.ledgerEnd).toBe(end);
  });
});

async function expectRefusal(call: (sandbox: Sandbox, value: never) => unknown): Promise<void> {
  const sandbox = await start();
  for (const value of [NaN, '5', true])
    expect([value, () => call(sandbox, value as never)]).toEqual([value, throwsTypeError]);
}

/** Matches a function that throws a TypeError. */
const throwsTypeError = {
  asymmetricMatch(call: unknown): boolean {
    try {
      (call as () => unknown)();
      return false;
    } catch (error) {
      return error instanceof TypeError && error.message.includes('out of range');
    }
  },
  toString: () => 'throwsTypeError',
};
