import type { OffsetCheckpoint } from '../../codecs/OffsetCheckpoint.js';
import type { Offset } from '../../codecs/scalars.js';
import type { AnyContract } from '../Contract.js';
import {
  type ContractsBatch,
  type ContractsChanged,
  type ContractsDifference,
  type ContractsReconciled,
  differenceOf,
  isDifference,
  isSameContract,
  type Moved,
  type Reset,
} from '../ContractChange.js';
import { ContractList } from '../ContractSet.js';
import { resetOf, type View } from '../LiveState.js';
import { contractFor, eventFor, haveSameWitnesses, type UpdateEvent, updateFor } from './seenBy.js';

/** The contracts and events of a change that a reader sees, as all readers have them. */
export interface ChangePart<C extends AnyContract> {
  readonly added: C[];
  readonly removed: C[];
  readonly moved: Moved<C>[];
  readonly events: UpdateEvent[];
}

/** A reader of the contracts that some parties see, in the form in which a participant shows them to these parties. */
export class PartyReader<C extends AnyContract> {
  /** `undefined` until they are known. */
  #parties: ReadonlySet<string> | undefined;
  #contracts = new ContractList<C>();
  /** What has changed since the last view. */
  #items: ContractsBatch<C>['items'][number][] = [];
  /** What the last view knew. */
  #known: ContractsBatch<C> | undefined;
  /** The parties, if they were replaced since the last view. */
  #replacedBy: readonly string[] | undefined;

  /** The parties; none until they are known. */
  get parties(): Iterable<string> {
    return this.#parties ?? [];
  }

  /** Whether one of some parties is among them. */
  isOneOf(parties: readonly string[]): boolean {
    return parties.some((party) => this.#parties?.has(party) === true);
  }

  /** Takes all contracts that the parties see. */
  load(contracts: Iterable<C>, reason: Reset['reason'], offset: Offset): void {
    const parties = this.#parties;
    if (parties === undefined) return;
    this.#contracts = new ContractList();
    for (const [contractId, contract] of formsOf(contracts, parties)) this.#contracts.set(contractId, contract);
    const reset: Reset<C> = { _tag: 'Reset', reason, offset, contracts: this.#contracts.snapshot.toArray() };
    // that they are of another ledger is said whatever comes after it
    const before = resetOf({ items: this.#items });
    this.#items = [before?.reason === 'ledgerReset' ? { ...reset, reason: before.reason } : reset];
  }

  /** Applies what the parties see of a change. Returns whether that is a change for them. */
  apply(change: ContractsChanged<C>, part: ChangePart<C>): boolean {
    const parties = this.#parties ?? new Set();
    const events = part.events.map((event) => eventFor(event, parties, this.#isActive(event)));
    const difference: ContractsDifference<C> = {
      added: part.added.map((contract) => contractFor(contract, parties)),
      removed: part.removed.flatMap(({ contractId }) => this.#contracts.get(contractId) ?? []),
      moved: part.moved
        .map(({ contract, from }) => ({ contract: contractFor(contract, parties), from }))
        // for others alone, it is different
        .filter(({ contract }) => !this.#hasSame(contract)),
    };
    if (!isDifference(difference) && !events.some(({ _tag }) => _tag === 'ExercisedEvent')) return false;
    this.#change(difference);
    if (change.update === undefined) this.#items.push({ ...change, ...difference });
    else this.#items.push({ ...change, ...difference, update: updateFor(change.update, events) });
    return true;
  }

  /** Takes a checkpoint, up to which there are no other changes. */
  checkpoint(checkpoint: OffsetCheckpoint): void {
    if (this.#parties !== undefined) this.#items.push(checkpoint);
  }

  /**
   * Replaces the parties. What is different is one change. A contract that was seen before is replaced if it has other
   * witnesses now.
   *
   * @param contracts - those that the parties see
   * @param offset - that of the contracts; `undefined` if they are not known
   */
  select(parties: ReadonlySet<string>, contracts: Iterable<C>, offset: Offset | undefined): void {
    const isFirst = this.#parties === undefined;
    this.#parties = parties;
    this.#replacedBy = isFirst ? undefined : [...parties];
    if (offset === undefined) return;
    if (isFirst) {
      this.load(contracts, 'start', offset);
      return;
    }
    const before = this.#contracts.snapshot;
    const after = formsOf(contracts, parties);
    for (const [contractId, contract] of after) {
      const former = before.get(contractId);
      if (former !== undefined && haveSameWitnesses(former, contract)) after.set(contractId, former);
    }
    const contractIds = new Set([...before.toArray().map(({ contractId }) => contractId), ...after.keys()]);
    const difference = differenceOf(contractIds, before, after);
    if (!isDifference(difference)) return;
    this.#change(difference);
    const change: ContractsReconciled<C> = {
      _tag: 'ContractsChanged',
      reason: 'selectionChanged',
      offset,
      ...difference,
    };
    this.#items.push(change);
  }

  /**
   * Notes that one of the parties may not be read any more: what is kept of earlier changes may be of it, also if none of its
   * contracts is left. Returns whether the parties are known.
   */
  lose(): boolean {
    if (this.#parties === undefined) return false;
    this.#replacedBy = [...this.#parties];
    return true;
  }

  /** Returns the view of the reader at a view of all contracts, with what has changed since the last one. */
  viewIn({ known, ...rest }: View<C>): View<C> {
    if (this.#parties === undefined || known === undefined) return { ...rest, isLive: false };
    const parties = this.#replacedBy;
    if (this.#items.length > 0 || parties !== undefined || this.#known?.isCaughtUp !== known.isCaughtUp)
      this.#known = { ...known, items: this.#items, contracts: this.#contracts.snapshot, parties };
    this.#items = [];
    this.#replacedBy = undefined;
    return { ...rest, known: this.#known };
  }

  #change({ added, removed, moved }: ContractsDifference<C>): void {
    for (const { contractId } of removed) this.#contracts.set(contractId, undefined);
    for (const contract of added) this.#contracts.set(contract.contractId, contract);
    for (const { contract } of moved) this.#contracts.set(contract.contractId, contract);
  }

  #hasSame(contract: C): boolean {
    const former = this.#contracts.get(contract.contractId);
    return former !== undefined && haveSameWitnesses(former, contract) && isSameContract(former, contract);
  }

  #isActive(event: UpdateEvent): boolean {
    return 'contractId' in event && this.#contracts.get(event.contractId) !== undefined;
  }
}

/** Returns contracts by ID, in the form that some parties see. */
function formsOf<C extends AnyContract>(contracts: Iterable<C>, parties: ReadonlySet<string>): Map<string, C> {
  const forms = new Map<string, C>();
  for (const contract of contracts)
    if (!forms.has(contract.contractId)) forms.set(contract.contractId, contractFor(contract, parties));
  return forms;
}
