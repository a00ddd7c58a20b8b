import { afterEach, describe, expect, it } from '@jest/globals';
import { lastValueFrom, tap, toArray } from 'rxjs';
import type { ContractEntry } from '../../src/codecs/ContractEntry.js';
import { acsDelta } from '../../src/codecs/UpdateFormat.js';
import { activeContracts } from '../../src/contracts/activeContracts.js';
import { makeContract } from '../../src/contracts/Contract.js';
import { ContractsFold } from '../../src/contracts/ContractsFold.js';
import type { ContractsOptions } from '../../src/contracts/ContractQuery.js';
import type { Diagnostic } from '../../src/diagnostics/Diagnostic.js';
import { createLedger } from '../../src/ledger/createLedger.js';
import { ofVariant } from '../../src/operators/byTag.js';
import { cantonError, type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/index.js';
import { webSocketTransport } from '../../src/ws/index.js';
import type { ContractState } from '../helpers/contractHistory.js';
import { statesOf } from '../helpers/foldLaw.js';

const listPath = '/v2/state/active-contracts';
const pagePath = '/v2/state/active-contracts-page';

const open: Sandbox[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((sandbox) => sandbox.close()));
});

/** A sandbox with contracts on several synchronizers, some of them in flight. */
async function sandboxWith(options: SandboxOptions): Promise<Sandbox> {
  const sandbox = await startSandbox(options);
  open.push(sandbox);
  sandbox.generate(200, { seed: 11 });
  return sandbox;
}

interface Result {
  readonly entries: readonly ContractEntry[];
  readonly diagnostics: readonly Diagnostic[];
}

async function read(
  sandbox: Sandbox,
  options: ContractsOptions = {},
  onEach?: (diagnostic: Diagnostic) => void,
): Promise<Result> {
  const ledger = createLedger({ baseUrl: sandbox.url, retry: { baseDelayMs: 1 } });
  const diagnostics: Diagnostic[] = [];
  const reports = ledger.diagnostics$.subscribe((diagnostic) => {
    diagnostics.push(diagnostic);
    onEach?.(diagnostic);
  });
  const entries = await lastValueFrom(activeContracts(ledger, { parties: 'any' }, options).pipe(toArray()));
  reports.unsubscribe();
  return { entries, diagnostics };
}

const webSocket = (): ContractsOptions => ({ transport: webSocketTransport() });
const sorted = (entries: readonly ContractEntry[]): string[] => entries.map((entry) => JSON.stringify(entry)).sort();
const waysOf = ({ diagnostics }: Result): string[] =>
  diagnostics.flatMap((diagnostic) => (diagnostic._tag === 'SnapshotStarted' ? [diagnostic.by] : []));

/** Where each contract is after all updates, whatever the service says of its contracts. */
async function afterUpdates(sandbox: Sandbox): Promise<Map<string, ContractState>> {
  const { includeReassignments, includeTransactions } = acsDelta({ parties: 'any' });
  const updates$ = createLedger({ baseUrl: sandbox.url }).updates({
    beginExclusive: 0,
    endInclusive: sandbox.ledgerEnd,
    updateFormat: { includeReassignments, includeTransactions },
  });
  const fold = new ContractsFold(makeContract());
  await lastValueFrom(
    updates$.pipe(
      ofVariant('Transaction', 'Reassignment'),
      tap((update) => fold.apply(update)),
    ),
  );
  return statesOf(fold.contracts);
}

/** Where each contract is by the entries of a snapshot. */
function byEntries(entries: readonly ContractEntry[]): Map<string, ContractState> {
  const fold = new ContractsFold(makeContract());
  fold.load(entries);
  fold.settle();
  return statesOf(fold.contracts);
}

describe('a snapshot over HTTP', () => {
  it.each([
    ['3.6', 'pages', {}],
    ['3.7', 'pages', {}],
    ['3.5', 'lists', {}],
    ['3.4', 'socket', webSocket()],
  ] as const)('has what all updates leave behind, %s by %s', async (profile, way, options) => {
    const sandbox = await sandboxWith({ profile, maxListElements: 20 });
    const expected = await afterUpdates(sandbox);
    expect(expected.size).toBeGreaterThan(20);
    if (profile === '3.5') sandbox.fault({ kind: 'status', status: 405, body: 'no' }, { path: pagePath });
    const result = await read(sandbox, { maxSnapshotPageSize: 20, ...options });
    expect(byEntries(result.entries)).toEqual(expected);
    expect(waysOf(result).at(-1)).toBe(way);
  });

  it('survives answers that are lost, cut or late (pitfall 1) (G25)', async () => {
    const sandbox = await sandboxWith({ profile: '3.6' });
    const { entries } = await read(sandbox, { maxSnapshotPageSize: 10 });
    sandbox.fault({ kind: 'reset' }, { path: pagePath, after: 1 });
    sandbox.fault({ kind: 'truncate', bytes: 300 }, { path: pagePath, after: 2 });
    sandbox.fault({ kind: 'status', status: 503, body: 'busy' }, { path: pagePath, after: 3 });
    const result = await read(sandbox, { maxSnapshotPageSize: 10 });
    expect(result.entries).toEqual(entries);
    expect(result.diagnostics.filter(({ _tag }) => _tag === 'RetryScheduled')).toHaveLength(3);
  });

  it.each([pagePath, listPath])(
    'begins again if its participant is upgraded to 3.7 in the middle, on %s',
    async (path) => {
      const sandbox = await sandboxWith({
        profile: '3.6',
        maxListElements: 20,
        activeContractsPages: path === pagePath,
      });
      const expected = await afterUpdates(sandbox);
      let count = 0;
      const result = await read(sandbox, { maxSnapshotPageSize: 20 }, ({ _tag }) => {
        if (_tag === 'SnapshotPageReceived' && (count += 1) === 2) sandbox.configure({ profile: '3.7' });
      });
      expect(byEntries(result.entries)).toEqual(expected);
      expect(result.diagnostics).toContainEqual(expect.objectContaining({ _tag: 'SnapshotRestarted' }));
      expect(sandbox.requests.at(-1)?.path).toBe(path);
    },
  );

  it('begins again if it is pruned in the middle (pitfall 8)', async () => {
    const sandbox = await sandboxWith({ profile: '3.5' });
    let count = 0;
    const result = await read(sandbox, { maxSnapshotPageSize: 10 }, ({ _tag }) => {
      if (_tag !== 'SnapshotPageReceived' || (count += 1) !== 2) return;
      sandbox.generate(50, { seed: 5 });
      sandbox.prune(sandbox.ledgerEnd);
    });
    const { entries } = await read(sandbox);
    expect(sorted(result.entries)).toEqual(sorted(entries));
    expect(result.diagnostics).toContainEqual(expect.objectContaining({ _tag: 'SnapshotRestarted' }));
  });

  it('is a SnapshotLimitError where nothing brings it (G27)', async () => {
    const sandbox = await sandboxWith({ profile: '3.4', maxListElements: 20 });
    await expect(read(sandbox)).rejects.toMatchObject({ _tag: 'SnapshotLimitError' });
    const { entries } = await read(sandbox, webSocket());
    expect(entries.length).toBeGreaterThan(20);
  });
});

describe('a snapshot by a WebSocket', () => {
  it.each([
    ['cut (1006)', { kind: 'socket', how: 'cut', elements: 7 }],
    ['closed with 1001', { kind: 'socket', how: 'close', code: 1001, elements: 7 }],
    ['closed with 1011', { kind: 'socket', how: 'close', code: 1011, elements: 7 }],
    [
      'ended by an error',
      { kind: 'socket', how: 'error', body: cantonError('STALE_STREAM_AUTHORIZATION'), elements: 7 },
    ],
  ] as const)('that is %s is read again (pitfall 1)', async (_, fault) => {
    const sandbox = await sandboxWith({ profile: '3.4', maxListElements: 20 });
    const { entries } = await read(sandbox, webSocket());
    sandbox.fault(fault, { path: listPath });
    const result = await read(sandbox, webSocket());
    expect(result.entries).toEqual(entries);
    expect(waysOf(result).filter((by) => by === 'socket')).toHaveLength(2);
  });
});
