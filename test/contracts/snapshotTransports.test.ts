import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { map, type Observable, throwError, timer } from 'rxjs';
import { activeContracts } from '../../src/contracts/activeContracts.js';
import { contractChanges } from '../../src/contracts/contractChanges.js';
import { eventFormatOf } from '../../src/contracts/ContractQuery.js';
import { contractsSource } from '../../src/contracts/ContractsSource.js';
import { readContracts } from '../../src/contracts/readContracts.js';
import { errorOf } from '../../src/errors/ApiError.js';
import { ResponseTooLargeError, ConnectionError } from '../../src/errors/request.js';
import type { Transport } from '../../src/feed/LedgerFeed.js';
import { observe } from '../helpers/observe.js';
import type { ServiceRequest } from '../helpers/scripted.js';
import { itInVirtualTime } from '../helpers/time.js';
import { type ContractsWorld, contractsWorld, listPath, pagePath, releases } from '../helpers/virtualContracts.js';
import { errorBody, errorReply, ok } from '../helpers/wire.js';
import { creations, failAt, ids, idsOf, type Outcome, read, type Scenario } from './snapshotScenario.js';

beforeEach(() => {
  jest.spyOn(Math, 'random').mockReturnValue(0.5);
});
afterEach(() => {
  jest.restoreAllMocks();
});

const old: Scenario = { ...releases['3.4'], count: 300 };
const parties = ['alice::1220ab'];
const gatewayError = errorReply(404, '<html>');
const isUpdates = ({ path }: ServiceRequest): boolean => path.startsWith('/v2/updates');
const isWhole = ({ query }: ServiceRequest): boolean => Number(query['limit']) > 10_000;
const waysOf = ({ diagnostics }: Outcome): string[] =>
  diagnostics.flatMap((diagnostic) => (diagnostic._tag === 'SnapshotStarted' ? [diagnostic.by] : []));

/** Fails the first request for which something holds. */
const failFirst = (
  isIt: (request: ServiceRequest) => boolean,
  reply = gatewayError,
): NonNullable<Scenario['fault']> => {
  let count = 0;
  return (request) => (isIt(request) && (count += 1) === 1 ? reply : undefined);
};

/** Sockets that all fail before they bring an element. */
const failingSockets =
  (makeError: () => Error) =>
  ({ participant }: ContractsWorld): void => {
    Object.assign(participant.transport, {
      readList: () => throwError(() => makeError()),
    } satisfies Partial<Transport>);
  };
const refusal = (): Error => new ConnectionError(listPath, 'the upgrade was rejected with status 403');

describe('a snapshot where a proxy refuses WebSockets', () => {
  it('is read in one list if that is whole', () => {
    const { observed } = read({ ...old, maxListElements: 500, sockets: [], given: failingSockets(refusal) });
    expect(idsOf(observed.values)).toEqual(ids(300));
  });

  it('tries the socket again if no list is whole, and ends with its failure', () => {
    const outcome = read({ ...old, sockets: [], given: failingSockets(refusal) });
    expect(outcome.observed).toMatchObject({ values: [], error: { _tag: 'ConnectionError' }, endedAt: 300_000 });
    expect(waysOf(outcome).slice(0, 4)).toEqual(['pages', 'lists', 'socket', 'lists']);
    expect(read({ ...old, sockets: [0, 0] }).observed.values).toHaveLength(300);
  });

  it('waits for a replica that lags, at a given offset, too', () => {
    let sockets = 0;
    const behind = (): Error =>
      errorOf({ path: listPath, status: 400, text: JSON.stringify(errorBody('OFFSET_AFTER_LEDGER_END', 12)) });
    const { observed } = read({
      ...old,
      request: { activeAtOffset: 300 },
      sockets: [],
      given: ({ participant }) => {
        const { readList } = participant.transport;
        Object.assign(participant.transport, {
          readList: (...request) => ((sockets += 1) < 3 ? throwError(() => behind()) : readList(...request)),
        } satisfies Partial<Transport>);
      },
    });
    expect(idsOf(observed.values)).toEqual(ids(300));
    expect(sockets).toBe(3);
    const { observed: reset } = read({
      ...old,
      request: { activeAtOffset: 300 },
      sockets: [],
      given: failingSockets(behind),
    });
    expect(reset).toMatchObject({ error: { _tag: 'LedgerResetError', cursor: 300 }, endedAt: 10_000 });
  });
});

describe('a list without a limit', () => {
  const late = (ms: number, reply: () => ReturnType<typeof errorReply>): Observable<ReturnType<typeof errorReply>> =>
    timer(ms).pipe(map(reply));
  const lost = (): never => {
    throw new Error('ECONNRESET');
  };

  it.each([
    ['a connection that is lost', 1_500, lost],
    ['a gateway without a participant', 1_500, () => errorReply(503, 'no upstream')],
    ['one response for which the participant does not wait', 20_000, () => errorReply(503, 'not in time')],
    ['one response for which the client does not wait', 60_000, lost],
  ])('is requested again after %s', (_, ms, reply) => {
    let count = 0;
    const { observed } = read({
      ...old,
      maxListElements: 500,
      fault: (request) => (isWhole(request) && (count += 1) === 1 ? late(ms, reply) : undefined),
    });
    expect(idsOf(observed.values)).toEqual(ids(300));
  });

  it.each([
    ['the participant', 20_000, () => errorReply(503, 'not in time'), 40_125],
    ['the client', 60_000, lost, 60_125],
  ])('is too long if %s does not wait for it twice', (_, ms, reply, endedAt) => {
    const { observed } = read({
      ...old,
      maxListElements: 500,
      fault: (request) => (isWhole(request) ? late(ms, reply) : undefined),
    });
    expect(observed).toMatchObject({ error: { _tag: 'SnapshotLimitError' }, endedAt });
  });
});

describe('a 404 of a gateway', () => {
  it.each([
    ['ledger end', '3.5.1', {}, ({ path }: ServiceRequest) => path.endsWith('ledger-end')],
    ['first list', '3.5.1', {}, ({ path }: ServiceRequest) => path === listPath],
    [
      'first page, without a ledger end',
      '3.6',
      { hasLedgerEnd: false },
      ({ path }: ServiceRequest) => path === pagePath,
    ],
  ] as const)('for the %s ends nothing', (_, release, how, isIt) => {
    const outcome = read({ ...releases[release], ...how, count: 300, fault: failFirst(isIt) });
    expect(idsOf(outcome.observed.values)).toEqual(ids(300));
    expect(outcome.service.requests.filter(isUpdates)).toEqual([]);
    expect(outcome.diagnostics.filter(({ _tag }) => _tag === 'SnapshotRestarted')).toHaveLength(1);
  });

  it('that stays is the error', () => {
    const { observed } = read({ count: 300, pages: 'gone', lists: 'gone' });
    expect(observed).toMatchObject({ error: { _tag: 'ApiError', status: 404, path: listPath }, endedAt: 125 });
  });

  it('is not waited for without retries', () => {
    const { observed } = read({ pages: 'gone', lists: 'gone', options: { retry: { giveUpAfterMs: 0 } } });
    expect(observed).toMatchObject({ error: { _tag: 'ApiError', status: 404 }, endedAt: 0 });
  });

  itInVirtualTime('for pages is remembered for a minute', ({ flush }) => {
    const { participant, service, client } = contractsWorld({ pages: 'gone' });
    participant.append(...creations(3));
    for (const at of [0, 59_999, 120_000])
      timer(at).subscribe(() => {
        observe(activeContracts(client, { parties }));
      });
    timer(60_000).subscribe(() => {
      participant.reconfigure({ pages: 'served' });
    });
    flush();
    expect(service.requests.map(({ path }) => path).filter((path) => [listPath, pagePath].includes(path))).toEqual([
      pagePath,
      listPath,
      listPath,
      pagePath,
    ]);
  });
});

describe('the answers of a snapshot', () => {
  const element = { workflowId: '', contractEntry: { JsEmpty: {} } };

  it('are not read for ever if their tokens repeat', () => {
    const { observed, requests } = read({
      fault: failAt((_, n) => ok({ activeContracts: [element], activeAtOffset: 3, nextPageToken: n % 2 ? 'a' : 'b' })),
    });
    expect(observed).toMatchObject({ error: { _tag: 'DecodeError' } });
    expect(requests).toHaveLength(3);
  });

  it('may have nothing but entries that mean nothing', () => {
    const { observed } = read({
      fault: failAt((_, n) =>
        ok({ activeContracts: [element], activeAtOffset: 3, nextPageToken: n === 1 ? 'a' : null }),
      ),
    });
    expect(observed).toMatchObject({ values: [], completed: true });
  });

  itInVirtualTime('are no smaller because an update of a feed was large', ({ flush }) => {
    const { participant, service, client } = contractsWorld({
      ...releases['3.5.1'],
      fault: (request) =>
        isUpdates(request) && Number(request.query['limit']) > 1
          ? new ResponseTooLargeError(request.path, 9)
          : undefined,
    });
    participant.append(...creations(300));
    const updateFormat = {
      includeTransactions: { eventFormat: {}, transactionShape: 'TRANSACTION_SHAPE_ACS_DELTA' },
    };
    observe(client.updates({ beginExclusive: 0, endInclusive: 3, updateFormat } as never));
    timer(1_000).subscribe(() => {
      observe(activeContracts(client, { parties }));
    });
    flush();
    const lists = service.requests.filter(({ path }) => path === listPath);
    expect(lists.map(({ query }) => Number(query['limit']))).toEqual([200, 200]);
  });
});

describe('a snapshot that cannot be had in time', () => {
  const behind = errorReply(400, errorBody('OFFSET_AFTER_LEDGER_END', 12));

  itInVirtualTime('ends when the policy says, whatever is retried', ({ flush }) => {
    const { participant, client } = contractsWorld({
      latencyMs: 5,
      fault: ({ path }) => (path === pagePath ? behind : undefined),
    });
    participant.append(...creations(3));
    const both = [observe(activeContracts(client, { parties })), observe(contractChanges(client, { parties }))];
    flush();
    for (const { error, endedAt } of both) {
      expect(error).toMatchObject({ _tag: 'LedgerResetError' });
      expect(endedAt).toBeLessThan(320_000);
    }
  });

  itInVirtualTime('is not read at a ledger end before what has been seen', ({ flush }) => {
    const { participant, service, client } = contractsWorld();
    participant.append(...creations(3));
    const source = contractsSource(client, {})();
    const lagging = observe(readContracts(source, { parties }, eventFormatOf({ parties }), { notBefore: 5 }));
    flush();
    expect(lagging.error).toMatchObject({ _tag: 'LedgerResetError', cursor: 5, ledgerEnd: 3 });
    expect(lagging.endedAt).toBe(10_000);
    const waiting = observe(readContracts(source, { parties }, eventFormatOf({ parties }), { notBefore: 5 }));
    timer(4_000).subscribe(() => {
      participant.append(...creations(2, 3));
    });
    flush();
    expect(waiting.values).toMatchObject([{ offset: 5 }]);
    expect(service.requests.filter(({ path }) => path === pagePath)).toHaveLength(1);
  });
});
