import { describe, expect, it } from '@jest/globals';
import { concatMap, of, throwError } from 'rxjs';
import {
  type CommandsRequest,
  createLedger,
  type HttpPort,
  type HttpResponse,
  type SubmittedTransaction,
  type Transaction,
} from '../../src/index.js';
import { clientOf } from '../../src/ledger/clientOf.js';
import { createSandbox, type Sandbox } from '../../src/sandbox/index.js';
import { type LedgerStarts, ledgerStarts } from '../../src/submission/LedgerStarts.js';
import { observe, type Observed } from '../helpers/observe.js';
import { later, runVirtually } from '../helpers/virtualTime.js';

// A service that runs for years submits for more and more parties.

const [minute, hour] = [60_000, 3_600_000];
const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
const parties = Array.from({ length: 1_100 }, (_, n) => `user${n}::1220ab`);

describe('the starts of many parties', () => {
  it('are kept whole while they are used, and the last thousand', () => {
    const client = clientOf(createLedger({ baseUrl: 'http://ledger.example' }));
    const startsOf = ledgerStarts();
    const of = (n: number): LedgerStarts => startsOf(client, [parties[n] ?? '']);
    const kept: boolean[] = [];
    runVirtually(() => {
      const first = parties.map((_, n) => of(n));
      later(hour / 2, () => kept.push(of(0) === first[0], of(1_099) === first[1_099]));
      later(hour, () => of(1_099));
      later(hour + 1, () => kept.push(of(0) === first[0], of(99) === first[99], of(600) === first[600]));
    });
    expect(kept).toEqual([true, true, true, false, true]);
  });

  it('are those of the set of parties, so that a new call finds what they committed in any order', () => {
    const sandbox = createSandbox();
    const [alice, bob] = ['alice', 'bob'].map((name) => sandbox.hostedParty(name)) as [string, string];
    const ledger = createLedger({ baseUrl: sandbox.url, port: sandbox.port });
    const createArguments = { owner: alice, amount: '10.0', tag: null, serial: '1' };
    const commands = [{ CreateCommand: { templateId: '#sandbox-assets:Main:Asset', createArguments } }];
    const seen: Observed<SubmittedTransaction>[] = [];
    runVirtually(() => {
      // the last is another set, and so another change
      const sets: readonly CommandsRequest['actAs'][] = [[alice, bob], [bob, alice], [alice, bob, alice], [alice]];
      for (const actAs of sets)
        seen.push(observe(ledger.submitAndWaitForTransaction({ commandId: 'c', userId: 'app', actAs, commands })));
    });
    expect(seen.map(({ values }) => values[0]?.isRepeated ?? false)).toEqual([false, true, true, false]);
    expect(sandbox.updates).toHaveLength(2);
  });

  it.each(['at first', 'later'])(
    'stay where they were if the participant does not serve its id %s, so that a new call finds what was committed',
    (when) => {
      const sandbox = createSandbox();
      const alice = sandbox.hostedParty('alice');
      const absent: HttpResponse = {
        status: 404,
        headers: {},
        text: '{"errors":[],"status":404,"ledgerApiError":null}',
      };
      let isLater = false;
      const port: HttpPort = (request) =>
        request.url.endsWith('/participant-id') && isLater === (when === 'later') ? of(absent) : sandbox.port(request);
      const ledger = createLedger({ baseUrl: sandbox.url, port });
      const createArguments = { owner: alice, amount: '10.0', tag: null, serial: '1' };
      const commands = [{ CreateCommand: { templateId: '#sandbox-assets:Main:Asset', createArguments } }];
      const submit = (commandId: string) =>
        observe(
          ledger.submitAndWaitForTransaction(
            { commandId, userId: 'app', actAs: [alice], commands },
            { recover: false },
          ),
        );
      let last: Observed<SubmittedTransaction> | undefined;
      runVirtually(() => {
        submit('c-1');
        isLater = true;
        // the start is read again after an unknown outcome
        sandbox.fault({ kind: 'reset', when: 'after' }, { path: '/v2/commands/submit-and-wait-for-transaction' });
        submit('c-2');
        submit('c-3');
        last = submit('c-1');
      });
      expect(last?.values).toMatchObject([{ offset: 1, isRepeated: true }]);
      expect(sandbox.updates).toHaveLength(3);
    },
  );

  it('are those of the participant that serves its id later, so that nothing is sent again to another one', () => {
    // both host the party
    const nodes: readonly [Sandbox, Sandbox] = [createSandbox(), createSandbox()];
    const alice = nodes[0].parties[0] ?? '';
    for (const sandbox of nodes) sandbox.advance(3);
    let [node] = nodes;
    let isServed = false;
    let isLost = false;
    const absent: HttpResponse = { status: 404, headers: {}, text: '{"errors":[],"status":404,"ledgerApiError":null}' };
    const port: HttpPort = (request) => {
      if (request.url.endsWith('/participant-id') && !isServed) return of(absent);
      if (!isLost || !request.url.includes('submit-and-wait')) return node.port(request);
      isLost = false;
      return node.port(request).pipe(
        concatMap(() => {
          node = nodes[1];
          return throwError(() => new Error('reset'));
        }),
      );
    };
    const ledger = createLedger({ baseUrl: 'http://sandbox', port });
    const createArguments = { owner: alice, amount: '10.0', tag: null, serial: '1' };
    const commands = [{ CreateCommand: { templateId: '#sandbox-assets:Main:Asset', createArguments } }];
    const submit = (commandId: string, recover: false | { readonly withinMs: number }) =>
      observe(ledger.submitAndWaitForTransaction({ commandId, userId: 'app', actAs: [alice], commands }, { recover }));
    let last: Observed<SubmittedTransaction> | undefined;
    runVirtually(() => {
      node.fault({ kind: 'reset', when: 'before' }, { path: '/v2/commands/submit-and-wait-for-transaction', times: 1 });
      submit('c-1', false);
      isServed = true;
      isLost = true;
      last = submit('c-2', { withinMs: 60_000 });
    });
    expect(last?.error).toMatchObject({ _tag: 'OutcomeUnknownError' });
    expect(nodes.map(({ updates }) => updates.length)).toEqual([1, 0]);
  });

  it('are not after what was committed, so that a new call finds it', () => {
    const sandbox = createSandbox();
    const owners = ['a', 'b', 'c'].map((name) => sandbox.hostedParty(name));
    let isDown = false;
    const port: HttpPort = (request) => (isDown ? throwError(() => refused) : sandbox.port(request));
    const ledger = createLedger({ baseUrl: 'http://ledger.example', port });
    const submit = (owner: string): Observed<Transaction> => {
      const createArguments = { owner, amount: '10.0', tag: null, serial: '1' };
      const command = { CreateCommand: { templateId: '#sandbox-assets:Main:Asset', createArguments } };
      const request = { commandId: 'first', userId: 'app', actAs: [owner], commands: [command] } as const;
      return observe(ledger.submitAndWaitForTransaction(request, { recover: false }));
    };
    const seen: Observed<Transaction>[] = [];
    runVirtually(() => {
      owners.forEach(submit);
      later(minute, () => {
        isDown = true;
        parties.forEach(submit);
      });
      later(hour, () => {
        submit('last::1220ab');
        isDown = false;
        seen.push(...owners.map(submit));
      });
    });
    expect(seen.map(({ values }) => values)).toMatchObject([
      [{ isRepeated: true }],
      [{ isRepeated: true }],
      [{ isRepeated: true }],
    ]);
    expect(sandbox.updates).toHaveLength(owners.length);
  });
});
