import * as t from 'io-ts';
import { map, type Observable, type OperatorFunction, takeUntil, timer } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { contractType } from '../../src/codecs/TemplateType.js';
import { contractChanges } from '../../src/contracts/contractChanges.js';
import type { ContractChange } from '../../src/contracts/ContractChange.js';
import type { Diagnostic } from '../../src/diagnostics/Diagnostic.js';
import { archived, created, marble, reassignmentOf, transactionOf, unassigned } from '../helpers/contractEvents.js';
import type { HistoryEvent, HistoryUpdate } from '../helpers/contractHistory.js';
import { observe } from '../helpers/observe.js';
import type { ServiceRequest } from '../helpers/scripted.js';
import { type ContractsWorld, contractsWorld, type VirtualContractsOptions } from '../helpers/virtualContracts.js';
import type { WorldOptions } from '../helpers/world.js';
import { brief } from './brief.js';

/** The type of all contracts of the virtual participant. */
export const Marble = contractType(marble, t.type({ owner: t.string, color: t.string, size: t.number }));

/** Its contracts, as most tests request them. */
export const marbles = { types: { marble: Marble }, parties: ['alice::1220ab'] } as const;

/** The synchronizer of all contracts, unless they are moved. */
export const home = 'home::1220ab';
export const away = 'away::1220ab';
const move = { source: home, target: away, reassignmentCounter: 1 };

/** Another type; see {@link create}. */
export const Paint = contractType('#paints:Paints:Paint', t.type({ owner: t.string }));

/** The template of a contract: a paint if its id says so. */
export const templateOf = (contractId: string): object =>
  contractId.startsWith('paint') ? { templateId: '1220cccc:Paints:Paint', packageName: 'paints' } : {};

const update = (offset: number, element: object, ...events: readonly HistoryEvent[]): HistoryUpdate => ({
  offset,
  element,
  events,
});

/** Contracts are created. */
export const create = (offset: number, ...contractIds: readonly string[]): HistoryUpdate => {
  const events = contractIds.map((contractId, nodeId) =>
    created({ contractId, offset, nodeId, ...templateOf(contractId) }),
  );
  return update(offset, transactionOf(offset, home, events), ...contractIds.map((id) => happened('create', id, 0)));
};

/** A contract is archived. */
export const archive = (offset: number, contractId: string): HistoryUpdate =>
  update(offset, transactionOf(offset, home, [archived(contractId, offset)]), happened('archive', contractId, 1));

/** A contract leaves its synchronizer. */
export const unassign = (offset: number, contractId: string): HistoryUpdate => {
  const element = reassignmentOf(offset, home, [unassigned(contractId, offset, move)]);
  return update(offset, element, happened('unassign', contractId, 1));
};

/** An update that changes nothing. */
export const nothing = (offset: number): HistoryUpdate => update(offset, transactionOf(offset, home, []));

/** An update that cannot be decoded: a transaction without its events. */
export const undecodable = (offset: number): HistoryUpdate =>
  update(offset, { update: { Transaction: { value: { offset, updateId: `1220${offset}` } } } });

const happened = (kind: HistoryEvent['kind'], contractId: string, step: number): HistoryEvent => ({
  kind,
  contractId,
  synchronizerId: home,
  step,
  move: kind === 'unassign' ? move : { source: '', target: '', reassignmentCounter: 0 },
});

/** The connection is lost, and updates are committed before there is another. */
export const missed =
  (...updates: readonly HistoryUpdate[]) =>
  ({ participant }: ContractsWorld): void => {
    participant.ledger.disconnect();
    participant.append(...updates);
  };

/** The same, and the participant prunes its ledger. */
export const pruned =
  (upTo: number, ...updates: readonly HistoryUpdate[]) =>
  (world: ContractsWorld): void => {
    missed(...updates)(world);
    world.participant.ledger.pruned = upTo;
  };

/** Changes on one line each. */
export const toBrief = (): OperatorFunction<ContractChange, string> => map(brief);

/** The changes of the marbles, in short, while something happens to their participant. */
interface Scenario extends Omit<VirtualContractsOptions & Pick<WorldOptions, 'client'>, 'fault'> {
  /** What is on the ledger before. */
  readonly given?: readonly HistoryUpdate[];
  /** What is committed, or happens otherwise, by the time in milliseconds. */
  readonly during?: Readonly<Record<number, readonly HistoryUpdate[] | ((world: ContractsWorld) => unknown)>>;
  readonly fault?: (
    request: ServiceRequest,
    count: number,
    world: ContractsWorld,
  ) => ReturnType<NonNullable<WorldOptions['fault']>>;
  readonly query?: Parameters<typeof contractChanges>[1];
  readonly options?: Parameters<typeof contractChanges>[2];
  /** When they are unsubscribed from, in milliseconds. */
  readonly forMs?: number;
}

/** Follows the changes of the marbles in virtual time. */
export function follow(scenario: Scenario = {}) {
  const { given = [create(2, 'a')], during = {}, fault, query = marbles, options, forMs = 60_000, ...rest } = scenario;
  // browsers load this file, too, so it imports nothing of Node.js
  return new TestScheduler(() => undefined).run(({ flush }) => {
    const world: ContractsWorld = contractsWorld({
      latencyMs: 5,
      ...rest,
      ...(fault && { fault: (request, count) => fault(request, count, world) }),
    });
    world.participant.append(...given);
    const diagnostics = record(world.client.diagnostics$);
    const changes = observe(contractChanges(world.client, query, options).pipe(takeUntil(timer(forMs))));
    for (const [ms, happen] of Object.entries(during))
      timer(Number(ms)).subscribe(() => {
        if (typeof happen === 'function') happen(world);
        else world.participant.append(...happen);
      });
    flush();
    return { ...world, diagnostics, changes, seen: { ...changes, values: changes.values.map(brief) } };
  });
}

/** Records what a ledger reports. */
export function record(diagnostics$: Observable<Diagnostic>): Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  diagnostics$.subscribe((diagnostic) => diagnostics.push(diagnostic));
  return diagnostics;
}

/** The diagnostics of a kind. */
export const reported = <Tag extends Diagnostic['_tag']>(
  diagnostics: readonly Diagnostic[],
  tag: Tag,
): Extract<Diagnostic, { readonly _tag: Tag }>[] =>
  diagnostics.filter(
    (diagnostic): diagnostic is Extract<Diagnostic, { readonly _tag: Tag }> => diagnostic._tag === tag,
  );
