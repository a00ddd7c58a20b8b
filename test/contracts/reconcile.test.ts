import { describe, expect, it } from '@jest/globals';
import * as t from 'io-ts';
import { asyncScheduler, concat, map, of } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { interfaceType } from '../../src/codecs/TemplateType.js';
import { UpdateElement } from '../../src/codecs/Update.js';
import { type AnyContract, makeContract } from '../../src/contracts/Contract.js';
import { contractsSource, eventFormatOf } from '../../src/contracts/ContractQuery.js';
import { ContractsFold } from '../../src/contracts/ContractsFold.js';
import { followChanges, progressAt } from '../../src/contracts/followChanges.js';
import { PackageWatch } from '../../src/contracts/reconcile/PackageWatch.js';
import type { Page } from '../../src/feed/Page.js';
import { entriesAt, type HistoryUpdate } from '../helpers/contractHistory.js';
import { observe } from '../helpers/observe.js';
import { contractsWorld, pagePath } from '../helpers/virtualContracts.js';
import { errorBody, errorReply } from '../helpers/wire.js';
import { brief } from './brief.js';
import { archive, create, follow, marbles, nothing, reported, unassign } from './joinSupport.js';
import type { ContractsBatch } from '../../src/contracts/ContractChange.js';

const Toy = interfaceType('#toys:Toys:Toy', t.type({ label: t.string }));
const views = [{ interfaceId: '1220ee:Toys:Toy', viewStatus: { code: 0 }, viewValue: { label: 'ball' } }];
const toys = { query: { types: { toy: Toy }, parties: ['alice::1220ab'] }, views, given: [create(2, 'a')] } as const;

const packages = ['1220aaaa', '1220bbbb'];
const minute = 60_000;
const busy = errorReply(503, errorBody('SERVER_IS_SHUTTING_DOWN', 1));
const snapshotsOf = (requests: readonly { readonly path: string }[]) =>
  requests.filter(({ path }) => path === pagePath).length;
const looksOf = (requests: readonly { readonly path: string }[]) =>
  requests.filter(({ path }) => path === '/v2/packages').length;

describe('changes of contracts by interface, when a package is uploaded', () => {
  it('have what appears, as one change, within five minutes and without another sign (G31)', () => {
    const { seen, service, diagnostics } = follow({
      ...toys,
      packages,
      during: {
        1_000: ({ participant }) => {
          participant.appendHidden(create(4, 'b'), create(5, 'c'), archive(6, 'b'));
          participant.append(create(7, 'd'));
        },
        2_000: ({ participant }) => {
          participant.upload('1220cccc');
        },
        [8 * minute]: ({ participant }) => {
          participant.append(archive(9, 'c'));
        },
      },
      forMs: 9 * minute,
    });
    expect(seen.values.filter((change) => !change.startsWith('OffsetCheckpoint'))).toEqual([
      'Reset 2 start a',
      'CaughtUp 2',
      'ContractsChanged 7 +d',
      'ContractsChanged 7 packageFound +c',
      'ContractsChanged 9 -c',
    ]);
    expect(snapshotsOf(service.requests)).toBe(2);
    expect(looksOf(service.requests)).toBeLessThanOrEqual(4);
    expect(reported(diagnostics, 'ContractsReconciled')).toMatchObject([
      { reason: 'packageFound', offset: 7, contracts: 3 },
    ]);
  });

  it('have it with the first answer after an outage', () => {
    const { seen } = follow({
      ...toys,
      packages,
      during: {
        1_000: ({ participant }) => {
          participant.appendHidden(create(4, 'b'));
          participant.append(create(5, 'c'));
        },
        10_000: ({ participant }) => {
          participant.upload('1220cccc');
          participant.ledger.disconnect();
        },
      },
      forMs: 15_000,
    });
    expect(seen.values).toContain('ContractsChanged 5 packageFound +b');
  });

  it('have it at once if an update has the new package', () => {
    const { seen } = follow({
      ...toys,
      packages,
      during: {
        1_000: ({ participant }) => {
          participant.appendHidden(create(4, 'b'));
          participant.append(create(5, 'c'));
        },
        10_000: ({ participant }) => {
          participant.upload('1220cccc');
          participant.append(create(6, 'paint'));
        },
      },
      forMs: 30_000,
    });
    expect(seen.values.slice(2)).toEqual([
      'ContractsChanged 5 +c',
      'ContractsChanged 6 +paint',
      'ContractsChanged 6 packageFound +b',
    ]);
  });

  it('read no contracts if the new package concerns none, and emit nothing', () => {
    const { seen, service } = follow({
      ...toys,
      packages,
      during: {
        2_000: ({ participant }) => {
          participant.upload('1220cccc');
        },
      },
      forMs: 12 * minute,
    });
    expect(seen.values.filter((change) => change.startsWith('ContractsChanged'))).toEqual([]);
    // the first look after the upload reads them, and no later one
    expect(snapshotsOf(service.requests)).toBe(2);
  });

  it.each([
    ['is not served', undefined],
    ['is forbidden', errorReply(403, errorBody('PERMISSION_DENIED', 7))],
    ['fails', busy],
  ])('go on if the list of packages %s, and watch the packages of updates', (_, reply) => {
    const { seen, service } = follow({
      ...toys,
      fault: ({ path }) => (path === '/v2/packages' ? reply : undefined),
      during: {
        1_000: ({ participant }) => {
          participant.appendHidden(create(4, 'b'));
          participant.append(create(5, 'c'));
        },
        10_000: ({ participant }) => {
          participant.reveal();
          participant.append(create(6, 'paint'));
        },
      },
      forMs: 20 * minute,
    });
    expect(seen.error).toBeUndefined();
    expect(seen.values).toContain('ContractsChanged 6 packageFound +b');
    if (reply !== busy) expect(looksOf(service.requests)).toBe(1);
  });

  it('read the contracts once the list of packages is there, if it was not when they began', () => {
    const { seen } = follow({
      ...toys,
      packages,
      fault: ({ path }, count) => (path === '/v2/packages' && count === 1 ? busy : undefined),
      during: {
        1_000: ({ participant }) => {
          participant.appendHidden(create(4, 'b'));
          participant.append(create(5, 'c'));
          participant.upload('1220cccc');
        },
      },
      forMs: 2 * minute,
    });
    expect(seen.values).toContain('ContractsChanged 5 packageFound +b');
  });

  it('look at no packages if the query names templates', () => {
    const { service } = follow({ packages, forMs: 12 * minute });
    expect(looksOf(service.requests)).toBe(0);
  });
});

describe('changes of contracts, when an update ends or moves a contract that is not there', () => {
  it.each([
    ['archives', archive(5, 'b'), []],
    ['moves', unassign(5, 'b'), ['b']],
  ])('and %s it, have what else is missing, as one change', (_, update, found) => {
    const { seen } = follow({
      ...toys,
      during: {
        1_000: ({ participant }) => {
          participant.appendHidden(create(3, 'b', 'c'));
          participant.append(nothing(4));
        },
        2_000: ({ participant }) => {
          participant.reveal();
          participant.append(update);
        },
      },
    });
    expect(seen.values.filter((change) => change.includes('appeared'))).toEqual([
      `ContractsChanged 5 appeared +${[...found, 'c'].join()}`,
    ]);
  });

  it('read the contracts less and less often if nothing is missing', () => {
    const during = Object.fromEntries(
      Array.from({ length: 60 }, (_, index) => [(index + 1) * minute, [archive(index + 5, `x${index}`)]]),
    );
    const { seen, service } = follow({ during, forMs: 61 * minute });
    expect(seen.values.filter((change) => change.includes('appeared'))).toEqual([]);
    expect(snapshotsOf(service.requests)).toBeGreaterThan(3);
    expect(snapshotsOf(service.requests)).toBeLessThan(9);
  });

  it('count each contract once', () => {
    const during = Object.fromEntries(
      Array.from({ length: 20 }, (_, index) => [(index + 1) * 10 * minute, [archive(index + 5, 'x')]]),
    );
    const { service } = follow({ during, forMs: 210 * minute });
    expect(snapshotsOf(service.requests)).toBe(2);
  });

  it('ignore one of another template, unless the query has interfaces', () => {
    const { service } = follow({
      ...toys,
      packages,
      during: { 1_000: [archive(5, 'x')] },
    });
    expect(snapshotsOf(service.requests)).toBe(2);
    const { service: ofTemplates } = follow({
      query: { types: { marble: { ...marbles.types.marble, templateId: '#paints:Paints:Paint' } }, parties: 'any' },
      during: { 1_000: [archive(5, 'x')] },
    });
    expect(snapshotsOf(ofTemplates.requests)).toBe(1);
  });

  it('have what the feed brings while they are read, once and after the difference', () => {
    const { seen } = follow({
      ...toys,
      latencyMs: 300,
      during: {
        1_000: ({ participant }) => {
          participant.appendHidden(create(3, 'b', 'c'));
          participant.append(nothing(4));
        },
        5_000: ({ participant }) => {
          participant.reveal();
          participant.append(archive(5, 'b'));
        },
        5_400: ({ participant }) => {
          participant.append(archive(6, 'c'), create(7, 'd'));
        },
      },
    });
    expect(seen.values.filter((change) => change.startsWith('ContractsChanged'))).toEqual([
      'ContractsChanged 5 appeared +c',
      'ContractsChanged 6 -c',
      'ContractsChanged 7 +d',
    ]);
    expect(seen.values.filter((change) => change.startsWith('FellBehind'))).toEqual([]);
  });

  it('go on where they are if the offset is pruned, and have the difference later', () => {
    const { seen } = follow({
      ...toys,
      packages,
      during: {
        1_000: ({ participant }) => {
          participant.appendHidden(create(3, 'b', 'c'));
          participant.append(nothing(4));
        },
        2_000: ({ participant }) => {
          participant.reveal();
          participant.append(archive(5, 'b'));
          participant.append(create(6, 'd'));
        },
      },
      fault: ({ path, body }) =>
        path === pagePath && body['activeAtOffset'] === 5
          ? errorReply(400, errorBody('PARTICIPANT_PRUNED_DATA_ACCESSED', 9, { earliest_offset: '6' }))
          : undefined,
      forMs: 5 * minute,
    });
    expect(seen.values.filter((change) => /Reset|Changed/.test(change))).toEqual([
      'Reset 2 start a',
      'ContractsChanged 6 +d',
      'ContractsChanged 6 appeared +c',
    ]);
  });
});

describe('changes of contracts whose ledger is replaced while they are read again', () => {
  it.each([
    ['by that of another participant', 'p1', 'p2'],
    ['by another one of the same participant', 'p1', 'p1'],
    ['by another one, and the participant does not tell its ID', undefined, undefined],
  ])('%s, have nothing of the other ledger before a reset', (_, participantId, other) => {
    const others = [create(2, 'x'), create(5, 'y'), nothing(9)];
    let isReplaced = false;
    const { seen, diagnostics } = follow({
      ...toys,
      packages,
      ...(participantId !== undefined && { participantId }),
      client: { retry: { giveUpAfterMs: 10_000 } },
      during: {
        1_000: ({ participant }) => {
          participant.append(create(4, 'b'));
        },
        10_000: ({ participant }) => {
          participant.upload('1220cccc');
          participant.append(create(6, 'paint'));
        },
      },
      fault: ({ path, body }, __, { participant }) => {
        if (path !== pagePath || body['activeAtOffset'] !== 6 || isReplaced) return undefined;
        isReplaced = true;
        participant.elementsAt = (offset) => entriesAt(others, offset);
        participant.ledger.replace(others, 9, other);
        return undefined;
      },
      forMs: 5 * minute,
    });
    expect(isReplaced).toBe(true);
    expect(seen.error).toBeUndefined();
    expect(seen.values.filter((change) => /Reset|Changed/.test(change))).toEqual([
      'Reset 2 start a',
      'ContractsChanged 4 +b',
      'ContractsChanged 6 +paint',
      'Reset 9 ledgerReset x,y',
    ]);
    expect(reported(diagnostics, 'ContractsReconciled')).toEqual([]);
  });
});

describe('changes of contracts whose feed goes back after an outage', () => {
  it('have what appeared before the offset as one change at it, and not as updates', () => {
    const { steps, requests } = followBack([
      { cursor: 6, updates: [create(6, 'c')] },
      // from the last update on, up to the old cursor
      { cursor: 3, updates: [create(3, 'b')] },
      { cursor: 5, updates: [create(4, 'e'), archive(5, 'e')] },
      { cursor: 8, updates: [create(6, 'c'), create(8, 'd')] },
    ]);
    expect(steps).toEqual(['6 +c', '6 appeared +b', '6', '6', '8 +d']);
    expect(requests).toBe(1);
  });

  it('are read again each time that it goes back and finds something', () => {
    const { requests } = followBack([
      { cursor: 6, updates: [create(6, 'c')] },
      { cursor: 3, updates: [create(3, 'b')] },
      { cursor: 2, updates: [] },
      { cursor: 4, updates: [create(4, 'e')] },
      { cursor: 7, updates: [] },
    ]);
    expect(requests).toBe(2);
  });

  it('are read again each time, also if one page reaches from before the offset to after it', () => {
    const { requests } = followBack([
      { cursor: 6, updates: [create(6, 'c')] },
      { cursor: 7, updates: [create(3, 'b')] },
      { cursor: 8, updates: [create(4, 'e')] },
    ]);
    expect(requests).toBe(2);
  });

  it('have an update at the offset of a checkpoint not as an update', () => {
    const { steps } = followBack([
      { cursor: 6, updates: [] },
      { cursor: 7, updates: [create(6, 'c')] },
    ]);
    expect(steps).toEqual(['6', '6 appeared +b,c', '7']);
  });

  it('take the next step of the feed once they are read: steps do not pile up', () => {
    const { takenAt } = followBack([
      { cursor: 6, updates: [create(6, 'c')] },
      { cursor: 3, updates: [create(3, 'b')] },
      { cursor: 8, updates: [] },
      { cursor: 9, updates: [] },
    ]);
    expect(takenAt).toEqual([0, 0, 300, 300]);
  });

  it('are not read again if nothing is there', () => {
    const { steps, requests } = followBack([
      { cursor: 6, updates: [create(6, 'c')] },
      { cursor: 3, updates: [] },
      { cursor: 9, updates: [] },
    ]);
    expect(steps).toEqual(['6 +c', '6', '9']);
    expect(requests).toBe(0);
  });
});

/** Follows a scripted feed after a snapshot at offset 2, on a participant that has the contracts `b` and `c` by now. */
function followBack(script: readonly { readonly cursor: number; readonly updates: readonly HistoryUpdate[] }[]) {
  return new TestScheduler(() => undefined).run(({ flush }) => {
    const { participant, service, client } = contractsWorld({ latencyMs: 300 });
    const takenAt: number[] = [];
    const position = { offset: 2, recordTimes: {} };
    const origin = { before: position, isAddressed: true };
    participant.append(create(3, 'b'), create(6, 'c'), nothing(9));
    const source = contractsSource(client, {})();
    const toStep = ({ cursor, updates }: (typeof script)[number]) => {
      takenAt.push(asyncScheduler.now());
      const items = updates.map(({ element }) => decoded(element));
      const page = { updates: items } as unknown as Page;
      return { items, page, position, origin, cursor, isCaughtUp: true };
    };
    const steps$ = followChanges(
      {
        ...{ source, query: marbles, eventFormat: eventFormatOf(marbles) },
        packages: new PackageWatch(source.client, marbles),
        find: () => of({ _tag: 'Here', isProven: true }),
        stubAt: () => {
          throw new Error('another feed');
        },
      },
      progressAt(
        { fold: new ContractsFold(makeContract(marbles.types)), offset: 2, position, isComplete: true },
        marbles,
      ),
      (ready$) => concat(...script.map((step) => ready$.pipe(map(() => toStep(step))))),
    );
    const seen = observe(steps$);
    flush();
    expect(seen.error).toBeUndefined();
    const briefOf = ({ offset, items }: ContractsBatch<AnyContract>): string =>
      [offset, ...items.filter(({ _tag }) => _tag === 'ContractsChanged').map((change) => brief(change))]
        .join(' ')
        .replace(/ContractsChanged \d+ /, '');
    return { steps: seen.values.map(briefOf), requests: snapshotsOf(service.requests), takenAt };
  });
}

const decoded = (element: object) => {
  const result = UpdateElement.decode(element);
  if (result._tag === 'Left') throw new Error('it does not decode');
  return result.right;
};
