import process from 'node:process';
import { asapScheduler, filter, type Observable, scheduled, take } from 'rxjs';
import { contractsFor, liveContracts } from '../../../../src/contracts/index.js';
import { createLedger, type HttpPort, type HttpRequest } from '../../../../src/index.js';
import type { Measure } from '../Load.js';

/**
 * The processor's time for a change in a live view of so many contracts, which are always as many: each update creates one and archives
 * the oldest. The service is in this process, so that little else is measured.
 */
export const changesAmong =
  (contracts: number): Measure =>
  ({ count }) => {
    const warm = Math.floor(count / 10);
    let seen = 0;
    let before: NodeJS.CpuUsage | undefined;
    const ledger = createLedger({ baseUrl: 'http://ledger.example', port: portOf(contracts, contracts + count) });
    const view = liveContracts(ledger, { parties: 'any' });
    const isSelected = ({ offset }: { readonly offset: number }): boolean => offset % 1_000 === 0;
    // what a program has of a view
    const used = [
      view.state$,
      view.select$(isSelected, (a, b) => b.offset - a.offset),
      view.count$(isSelected),
      view.count$(),
      view.byId$('c1'),
    ].map((each$: Observable<unknown>) => each$.subscribe());
    return new Promise((resolve, reject) => {
      view.changes$
        .pipe(
          filter(({ _tag }) => _tag === 'ContractsChanged'),
          take(count),
        )
        .subscribe({
          next: () => {
            seen += 1;
            // the compiler is at work before that
            if (seen === warm) before = process.cpuUsage();
          },
          error: reject,
          complete: () => {
            const { user, system } = process.cpuUsage(before);
            for (const each of used) each.unsubscribe();
            resolve({ cost: (user + system) / (count - warm) });
          },
        });
    });
  };

/** How many parties the contracts of {@link changesFor} have. Each contract has two. */
const partyCount = 1_000;

/**
 * The processor's time for a change in a live view of 100 000 contracts of 1 000 parties, which so many readers share, each with
 * the changes of one party.
 */
export const changesFor =
  (readers: number): Measure =>
  ({ count }) => {
    const contracts = 100_000;
    const warm = Math.floor(count / 10);
    let seen = 0;
    let before: NodeJS.CpuUsage | undefined;
    const port = portOf(contracts, contracts + count, partyCount);
    const view = liveContracts(createLedger({ baseUrl: 'http://ledger.example', port }), { parties: 'any' });
    let shown = 0;
    const reading = Array.from({ length: readers }, (_, n) =>
      contractsFor(view, [partyOf(n)]).changes$.subscribe((change) => {
        if (change._tag === 'ContractsChanged') shown += 1;
      }),
    );
    return new Promise((resolve, reject) => {
      view.changes$
        .pipe(
          filter(({ _tag }) => _tag === 'ContractsChanged'),
          take(count),
        )
        .subscribe({
          next: () => {
            seen += 1;
            if (seen === warm) before = process.cpuUsage();
          },
          error: reject,
          complete: () => {
            const { user, system } = process.cpuUsage(before);
            const { heapUsed } = process.memoryUsage();
            for (const each of reading) each.unsubscribe();
            // a change archives a contract of two parties, and creates one of the same two
            if (readers === partyCount && shown < 2 * (count - 1_000)) reject(new Error(`only ${shown} were shown`));
            else resolve({ cost: (user + system) / (count - warm), figures: { heapMb: heapUsed / 1e6 } });
          },
        });
    });
  };

/** A service with so many contracts at the offset of the same number, and updates after it. */
function portOf(contracts: number, end: number, parties = 1): HttpPort {
  // the ledger goes on when the snapshot is complete
  let isRead = false;
  return ({ url, body }: HttpRequest) => {
    const { pathname, searchParams } = new URL(url);
    const request = JSON.parse(body ?? '{}') as Readonly<Record<string, number | string | undefined>>;
    const list = (first: number, last: number, element: (n: number) => object): object[] =>
      Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => element(first + i));
    // not within the subscription
    const answer = (json: unknown) =>
      scheduled([{ status: 200, headers: {}, text: JSON.stringify(json) }], asapScheduler);
    if (pathname === '/v2/state/ledger-end') return answer({ offset: isRead ? end : contracts });
    if (pathname === '/v2/state/active-contracts-page') {
      const first = Number(request['pageToken'] ?? 1);
      const last = Math.min(contracts, first + Number(request['maxPageSize']) - 1);
      isRead = last === contracts;
      const nextPageToken = isRead ? null : String(last + 1);
      return answer({
        activeContracts: list(first, last, (n) => active(n, parties)),
        activeAtOffset: contracts,
        nextPageToken,
      });
    }
    const first = Number(request['beginExclusive']) + 1;
    const last = Math.min(end, first + Number(searchParams.get('limit')) - 1);
    return answer(list(first, last, (n) => update(n, n - contracts, parties)));
  };
}

const partyOf = (n: number): string => `party-${n}::1220ab`;

/** The parties of a contract: one, or two of many. */
const partiesOf = (n: number, parties: number): readonly string[] =>
  parties === 1 ? [partyOf(0)] : [partyOf(n % parties), partyOf((n + 7) % parties)];

const templateId = '1220ab:Main:Asset';
const synchronizerId = 'global::1220ab';
const at = '2026-07-24T10:00:00Z';

const created = (n: number, parties: number): object => ({
  offset: n,
  nodeId: 0,
  contractId: `c${n}`,
  templateId,
  createArgument: { owner: partyOf(n % parties), amount: `${n}.0` },
  witnessParties: partiesOf(n, parties),
  signatories: partiesOf(n, parties).slice(0, 1),
  observers: partiesOf(n, parties).slice(1),
  createdAt: at,
  packageName: 'main',
  acsDelta: true,
});

const active = (n: number, parties: number): object => ({
  workflowId: '',
  contractEntry: { JsActiveContract: { createdEvent: created(n, parties), synchronizerId, reassignmentCounter: 0 } },
  streamContinuationToken: '',
});

const update = (n: number, oldest: number, parties: number): object => {
  const archived = {
    offset: n,
    nodeId: 1,
    contractId: `c${oldest}`,
    templateId,
    witnessParties: partiesOf(oldest, parties),
    packageName: 'main',
  };
  const events = [{ CreatedEvent: created(n, parties) }, { ArchivedEvent: archived }];
  const value = { updateId: `u${n}`, effectiveAt: at, events, offset: n, synchronizerId, recordTime: at };
  return { update: { Transaction: { value } } };
};
