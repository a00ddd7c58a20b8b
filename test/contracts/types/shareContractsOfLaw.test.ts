import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import * as t from 'io-ts';
import { asyncScheduler, map, timer } from 'rxjs';
import { contractType, interfaceType } from '../../../src/codecs/TemplateType.js';
import { updateValue } from '../../../src/sandbox/wire/WireUpdate.js';
import type { AnyContract } from '../../../src/contracts/Contract.js';
import type { ContractChange } from '../../../src/contracts/ContractChange.js';
import type { ContractQuery } from '../../../src/contracts/ContractQuery.js';
import { liveContracts } from '../../../src/contracts/liveContracts.js';
import type { LiveState } from '../../../src/contracts/LiveState.js';
import { shareContractsOf } from '../../../src/contracts/shareContractsOf.js';
import { createLedger } from '../../../src/ledger/createLedger.js';
import { createSandbox, type Sandbox } from '../../../src/sandbox/index.js';
import { effort } from '../../helpers/effort.js';
import { observe, type Observed } from '../../helpers/observe.js';
import { later, runVirtually } from '../../helpers/virtualTime.js';
import { errorBody } from '../../helpers/wire.js';

const Asset = contractType('#sandbox-assets:Main:Asset', t.UnknownRecord);
const Offer = contractType('#sandbox-assets:Main:Offer', t.UnknownRecord);
const Task = contractType('#sandbox-tasks:Tasks.Model:Task', t.UnknownRecord);
const Holding = interfaceType('#sandbox-api:Api:Holding', t.UnknownRecord);
/** The same template, with a decoder that refuses its contracts. */
const Strange = contractType('#sandbox-assets:Main:Asset', t.type({ nothing: t.string }));

/** The types that are read together, and the answer of a participant that does not know one of them. */
const all = [Holding, Task, Asset, Offer];
const unknownType = {
  ...{ status: 404, headers: { 'content-type': 'application/json' } },
  text: JSON.stringify(errorBody('NO_TEMPLATES_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME', 11)),
};

/** The types of the views, by names of theirs. */
const named = { asset: Asset, offer: Offer, task: Task, holding: Holding, strange: Strange, thing: Asset } as const;
const typeLists = fc
  .subarray(Object.keys(named) as (keyof typeof named)[], { minLength: 1, maxLength: 3 })
  .chain((names) => fc.shuffledSubarray(names, { minLength: names.length }))
  .map((names) => Object.fromEntries(names.map((name) => [name, named[name]])));

const anyReader = fc.record({
  joinsAt: fc.nat(4),
  leavesAt: fc.option(fc.integer({ min: 5, max: 7 }), { nil: undefined }),
  types: typeLists,
  includeExercises: fc.boolean(),
  onUndecodable: fc.constantFrom('emit', undefined),
});

const anyAction = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('traffic' as const), count: fc.integer({ min: 1, max: 12 }) }),
  },
  fc.record({ kind: fc.constant('outage' as const), after: fc.nat(6), times: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ kind: fc.constant('cut' as const), after: fc.nat(4) }),
  fc.record({ kind: fc.constant('prune' as const) }),
  fc.record({ kind: fc.constant('reject' as const), isRejected: fc.boolean() }),
);

const byId = (one: AnyContract, other: AnyContract): number => (one.contractId < other.contractId ? -1 : 1);
const sorted = (contracts: Iterable<AnyContract>): readonly AnyContract[] => [...contracts].sort(byId);

type Action = typeof anyAction extends fc.Arbitrary<infer A> ? A : never;

/** Does something to a participant. */
function act(sandbox: Sandbox, action: Action, seed: number): void {
  switch (action.kind) {
    case 'traffic':
      sandbox.generate(action.count, { seed });
      break;
    case 'outage':
      sandbox.fault({ kind: 'status', status: 503, body: 'down' }, { after: action.after, times: action.times });
      sandbox.generate(3, { seed });
      break;
    case 'cut':
      sandbox.fault({ kind: 'truncate', bytes: 40 }, { path: /updates|active/, after: action.after, times: 2 });
      sandbox.generate(3, { seed });
      break;
    case 'reject':
      sandbox.generate(4, { seed });
      break;
    case 'prune':
      sandbox.generate(2, { seed });
      sandbox.prune(sandbox.ledgerEnd);
  }
}

const idsIn = (contracts: Iterable<AnyContract>): readonly string[] =>
  sorted(contracts).map(({ contractId }) => contractId);

/** Applies changes as a subscriber does, and fails at one that does not follow from the former. */
function addUp(changes: readonly ContractChange[]): readonly AnyContract[] {
  const contracts = new Map<string, AnyContract>();
  for (const change of changes) {
    if (change._tag === 'Reset') {
      contracts.clear();
      for (const each of change.contracts) contracts.set(each.contractId, each);
    }
    if (change._tag !== 'ContractsChanged') continue;
    for (const each of change.removed) {
      // the same object, unless it was read again when the view continued alone
      expect(contracts.get(each.contractId)).toEqual(each);
      contracts.delete(each.contractId);
    }
    for (const each of change.added) {
      expect(contracts.has(each.contractId)).toBe(false);
      contracts.set(each.contractId, each);
    }
    for (const { contract, from } of change.moved) {
      expect(contracts.get(contract.contractId)?.location).toEqual(from);
      contracts.set(contract.contractId, contract);
    }
  }
  return sorted(contracts.values());
}

/** The changes of updates by their IDs, in a form that two views have in common. */
const updatesIn = (changes: readonly ContractChange[]): ReadonlyMap<string, unknown> =>
  new Map(
    changes.flatMap((change): readonly [string, unknown][] =>
      change._tag === 'ContractsChanged' && change.updateId !== undefined
        ? [[change.updateId, { ...change, added: sorted(change.added), removed: sorted(change.removed) }]]
        : [],
    ),
  );

const resetsIn = (changes: readonly ContractChange[]): number => changes.filter(({ _tag }) => _tag === 'Reset').length;

interface Seen {
  readonly states: Observed<LiveState>;
  readonly changes: Observed<ContractChange>;
}

const tickMs = 120_000;

describe('a view that is read together with others', () => {
  it('has at any time what it has alone, through outages, pruning and rejected requests', () => {
    let [read, requestsOfShared, requestsOfAlone] = [0, 0, 0];
    fc.assert(
      fc.property(
        fc.array(anyReader, { minLength: 1, maxLength: 4 }),
        fc.array(anyAction, { minLength: 2, maxLength: 8 }),
        fc.constantFrom('any' as const, 'one' as const),
        fc.integer({ min: 1, max: 2 }),
        fc.nat(1_000),
        (plans, actions, whose, synchronizers, seed) => {
          runVirtually(() => {
            const sandbox = createSandbox({
              scheduler: asyncScheduler,
              latencyMs: 5,
              synchronizers: ['one::1220ab', 'two::1220ab'].slice(0, synchronizers),
            });
            sandbox.generate(20, { seed });
            const parties = whose === 'any' ? whose : sandbox.parties.slice(0, 1);
            let isRejected = false;
            const ledgerOf = (count: () => void) =>
              createLedger({
                baseUrl: sandbox.url,
                port: (request) => {
                  count();
                  // no view alone selects all of them
                  const hasAll = all.every(({ templateId }) => request.body?.includes(templateId));
                  return isRejected && hasAll ? timer(5).pipe(map(() => unknownType)) : sandbox.port(request);
                },
              });
            const ledger = ledgerOf(() => (requestsOfShared += 1));
            const other = ledgerOf(() => (requestsOfAlone += 1));
            const shared = shareContractsOf(ledger, all, { keepMs: 0 });
            const readers = new Set<{
              readonly query: ContractQuery;
              fresh: Observed<LiveState> | undefined;
              readonly together: Seen;
              readonly alone: Seen;
            }>();
            const endOf = ({ together, alone }: { readonly together: Seen; readonly alone: Seen }): void => {
              for (const { subscription } of [together.states, together.changes, alone.states, alone.changes])
                subscription.unsubscribe();
            };
            for (const { joinsAt: someTime, leavesAt, ...rest } of plans) {
              const joinsAt = someTime % actions.length;
              later(joinsAt * tickMs + 7, () => {
                const query: ContractQuery = { ...rest, parties };
                const [one, own] = [shared.view(query), liveContracts(other, query)];
                const reader = {
                  query,
                  fresh: undefined as Observed<LiveState> | undefined,
                  together: { states: observe(one.state$), changes: observe(one.changes$) },
                  alone: { states: observe(own.state$), changes: observe(own.changes$) },
                };
                readers.add(reader);
                if (leavesAt === undefined) return;
                later((leavesAt - joinsAt) * tickMs, () => {
                  readers.delete(reader);
                  endOf(reader);
                });
              });
            }
            const check = (isEnd = false): void => {
              for (const { together, alone, fresh } of readers) {
                fresh?.subscription.unsubscribe();
                const now = fresh?.values.at(-1);
                const [state, expected] = [together.states.values.at(-1), alone.states.values.at(-1)];
                expect([together.states.error, alone.states.error]).toEqual([undefined, undefined]);
                // still in the outage
                if (expected?.data !== 'live' && !isEnd) continue;
                if (state?.data !== 'live' || expected?.data !== 'live')
                  throw new Error(`not live: ${state?.data} ${expected?.data}`);
                if (now?.data === 'live' && now.offset === state.offset)
                  expect(idsIn(state.contracts)).toEqual(idsIn(now.contracts));
                expect(sorted(state.contracts)).toEqual(sorted(expected.contracts));
                expect(addUp(together.changes.values)).toEqual(sorted(state.contracts));
                const [mine, theirs] = [updatesIn(together.changes.values), updatesIn(alone.changes.values)];
                for (const [id, change] of mine) if (theirs.has(id)) expect(change).toEqual(theirs.get(id));
                if (resetsIn(together.changes.values) + resetsIn(alone.changes.values) === 2) {
                  const begin = Math.max(together.changes.values[0]?.offset ?? 0, alone.changes.values[0]?.offset ?? 0);
                  const after = (ids: Iterable<string>): readonly string[] =>
                    [...ids].filter((id) =>
                      sandbox.updates.some((update) => {
                        const { updateId, offset } = updateValue(update);
                        return updateId === id && offset > begin;
                      }),
                    );
                  expect(after(mine.keys())).toEqual(after(theirs.keys()));
                }
                read += state.contracts.size;
              }
            };
            actions.forEach((action, index) => {
              later((index + 1) * tickMs, () => {
                if (action.kind === 'reject') ({ isRejected } = action);
                act(sandbox, action, seed + index);
              });
              later((index + 2) * tickMs - 60_000, () => {
                for (const reader of readers) reader.fresh = observe(liveContracts(other, reader.query).state$);
              });
              later((index + 2) * tickMs - 1, () => {
                check();
              });
            });
            later((actions.length + 6) * tickMs, () => {
              check(true);
              for (const reader of readers) endOf(reader);
              readers.clear();
            });
          });
        },
      ),
      { numRuns: effort(10, 200), endOnFailure: true },
    );
    expect(read).toBeGreaterThan(0);
    expect(requestsOfShared).toBeLessThan(requestsOfAlone);
  });
});
