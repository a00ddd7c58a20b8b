import process from 'node:process';
import { describe, expect, it } from '@jest/globals';
import { filter, map, type Observable, take, timer, VirtualTimeScheduler } from 'rxjs';
import { acsDelta, createLedger, ledgerEffects, type Update } from '../../src/index.js';
import { createSandbox, type Fault, type Sandbox } from '../../src/sandbox/index.js';
import { updateValue } from '../../src/sandbox/wire/WireUpdate.js';
import { webSocketTransport } from '../../src/ws/index.js';
import { observe, offsets } from '../helpers/observe.js';
import { itInVirtualTime, marbles } from '../helpers/time.js';
import { later, runVirtually } from '../helpers/virtualTime.js';

const topology = { includeParticipantAuthorizationEvents: {} };
const updateFormat = { ...ledgerEffects({ parties: 'any' }), includeTopologyEvents: topology };

const ledgerOf = ({ url, port }: Sandbox) => createLedger({ baseUrl: url, port, retry: { giveUpAfterMs: Infinity } });

const withoutCheckpoints = (updates$: Observable<Update>): Observable<Update> =>
  updates$.pipe(filter(({ _tag }) => _tag !== 'OffsetCheckpoint'));

const offsetsOf = ({ updates }: Sandbox): number[] => updates.map((update) => updateValue(update).offset);

describe('createSandbox', () => {
  itInVirtualTime('answers a client without a server', ({ expectObservable }) => {
    const sandbox = createSandbox();
    sandbox.generate(20);
    expectObservable(ledgerOf(sandbox).ledgerEnd()).toBe('(a|)', { a: sandbox.ledgerEnd });
  });

  itInVirtualTime('lets a request take its time', ({ expectObservable }) => {
    const sandbox = createSandbox({ latencyMs: 20 });
    expectObservable(ledgerOf(sandbox).ledgerEnd()).toBe('20ms (a|)', { a: 0 });
  });

  it('has the time of a scheduler, which begins with the epoch', () => {
    const scheduler = new VirtualTimeScheduler();
    const sandbox = createSandbox({ scheduler });
    const times: unknown[] = [];
    timer(1_500, scheduler).subscribe(() => {
      sandbox.append({ Transaction: { value: { events: [{ CreatedEvent: {} }] } } });
      times.push(sandbox.updates.map((update) => updateValue(update).recordTime));
    });
    scheduler.flush();
    expect(times).toEqual([['1970-01-01T00:00:01.500Z']]);
  });

  itInVirtualTime('sends an update to a poll that waits for it', ({ expectObservable }) => {
    const sandbox = createSandbox();
    later(40, () => void sandbox.append({ Transaction: { value: { events: [{ CreatedEvent: {} }] } } }));
    const updates$ = ledgerOf(sandbox).updates({ beginExclusive: 0, updateFormat });
    expectObservable(
      updates$.pipe(
        map(({ offset }) => offset),
        take(1),
      ),
    ).toBe('40ms (a|)', { a: 1 });
  });

  itInVirtualTime('sends an update to a WebSocket', ({ expectObservable }) => {
    const sandbox = createSandbox();
    later(40, () => void sandbox.append({ Transaction: { value: { events: [{ CreatedEvent: {} }] } } }));
    const transport = webSocketTransport({ port: sandbox.socketPort });
    const ledger = createLedger({ baseUrl: sandbox.url, port: sandbox.port, transport });
    const updates$ = ledger.updates({ beginExclusive: 0, updateFormat });
    expectObservable(
      updates$.pipe(
        map(({ offset }) => offset),
        take(1),
      ),
    ).toBe('40ms (a|)', { a: 1 });
  });

  it('is down while it restarts, and lets clients continue afterwards', () => {
    const sandbox = createSandbox();
    sandbox.generate(10);
    let seen: number[] = [];
    runVirtually(() => {
      const feed = observe(withoutCheckpoints(ledgerOf(sandbox).updates({ beginExclusive: 0, updateFormat })));
      later(1_000, () => {
        void sandbox.restart({ downMs: 5_000, whileDown: () => sandbox.generate(10, { seed: 2 }) });
      });
      later(30_000, () => {
        feed.subscription.unsubscribe();
        seen = offsets(feed.values);
      });
    });
    expect(seen).toEqual(offsetsOf(sandbox));
  });

  it('refuses requests after it is closed', () => {
    const sandbox = createSandbox();
    void sandbox.close();
    let error: unknown;
    sandbox.port({ method: 'GET', url: `${sandbox.url}/livez`, headers: {} }).subscribe({
      error: (reason: unknown) => {
        error = reason;
      },
    });
    expect(error).toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('commits a submission whose response is lost, and the client finds it', () => {
    const sandbox = createSandbox();
    const alice = sandbox.hostedParty('alice');
    sandbox.fault({ kind: 'commitLate', ms: 25_000 }, { path: /commands\/submit/ });
    const record = marbles(({ flush }) => {
      const createArguments = { owner: alice, amount: '1.0', tag: null, serial: '1' };
      const submitted = observe(
        ledgerOf(sandbox).submitAndWaitForTransaction({
          commandId: 'once',
          actAs: [alice],
          userId: 'app',
          commands: [{ CreateCommand: { templateId: '#sandbox-assets:Main:Asset', createArguments } }],
        }),
      );
      flush();
      return submitted;
    });
    expect(record.error).toBeUndefined();
    expect(record.values.map(({ offset }) => offset)).toEqual(offsetsOf(sandbox));
    expect(sandbox.updates).toHaveLength(1);
  });
});

describe('a catch-up of 10 000 updates with 200 faults', () => {
  const faults: readonly Fault[] = [
    { kind: 'reset' },
    { kind: 'reset', when: 'after' },
    { kind: 'status', status: 503, body: 'try later' },
    { kind: 'truncate', bytes: 500 },
    { kind: 'delay', ms: 700 },
    { kind: 'status', status: 502, body: '<html>Bad Gateway</html>', contentType: 'text/html' },
  ];

  it('emits each update once and in order, which takes about a second of the machine', () => {
    const sandbox = createSandbox();
    const update = { Transaction: { value: { events: [{ CreatedEvent: { createArgument: { amount: '1.0' } } }] } } };
    sandbox.append(...Array.from({ length: 10_000 }, () => update));
    Array.from({ length: 200 }, (_, index) => faults[index % faults.length]).forEach((fault, index) => {
      if (fault !== undefined) sandbox.fault(fault, { path: /^\/v2\/updates/, after: index });
    });
    const request = { beginExclusive: 0, endInclusive: sandbox.ledgerEnd, updateFormat: acsDelta({ parties: 'any' }) };
    const startedAt = performance.now();
    const feed = marbles(({ flush }) => {
      const observed = observe(ledgerOf(sandbox).updates(request));
      flush();
      return observed;
    });
    process.stdout.write(`10 000 updates with 200 faults: ${Math.round(performance.now() - startedAt)} ms\n`);
    expect(feed).toMatchObject({ completed: true, error: undefined });
    expect(offsets(feed.values)).toEqual(offsetsOf(sandbox));
    const failed = sandbox.requests.filter(({ status }) => status !== 200);
    expect(failed.length).toBeGreaterThan(100);
    expect(sandbox.requests.length).toBeGreaterThan(200);
  });
});
