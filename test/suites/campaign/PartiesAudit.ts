import { isDeepStrictEqual } from 'node:util';
import type { AnyContract } from '../../../src/contracts/Contract.js';
import type { ContractChange, ContractsChanged, Reset } from '../../../src/contracts/ContractChange.js';
import { contractsAt, type ContractState, type HistoryUpdate } from '../../helpers/contractHistory.js';
import type { PartiesPlan } from './playContracts.js';

/** A contract as its parties see it. */
interface Seen extends ContractState {
  /** Those of the selected parties that have a stake in it. */
  readonly witnesses: readonly string[];
}

type States = ReadonlyMap<string, Seen>;

/**
 * Compares the changes that a subscriber receives with what its parties see of the ledger, after each of them. The parties are
 * those of one list, or those that it has in common with a later one: of what comes while a list is taken over, only what was
 * taken away counts.
 */
export class PartiesAudit {
  /** What is wrong, in words. */
  readonly flaws: string[] = [];
  /** The changes are complete up to here; `undefined` before the first. */
  offset: number | undefined;
  readonly resets: string[] = [];
  changes = 0;
  /** The number of changes of the selection. */
  selections = 0;
  /** The largest number of contracts. */
  most = 0;
  private states: States = new Map();
  private readonly lists: (readonly string[])[];
  /** The first list whose parties the contracts may be of. */
  private from = 0;
  private readonly known = new Map<string, States>();

  constructor(
    private readonly history: readonly HistoryUpdate[],
    private readonly plan: PartiesPlan,
    resumeFrom: number | undefined,
  ) {
    this.lists = [plan.first, ...[...plan.lists].sort((a, b) => a.atMs - b.atMs).map(({ parties }) => parties)];
    this.offset = resumeFrom;
    if (resumeFrom !== undefined) this.states = this.statesAt(resumeFrom, plan.first);
  }

  /** Whether the contracts are those of the last list, at an offset. */
  isOfLast(): boolean {
    return this.offset !== undefined && isSame(this.states, this.statesAt(this.offset, this.lists.at(-1) ?? []));
  }

  /** Checks a change, and takes it into account. */
  add(change: ContractChange): void {
    if (change._tag === 'Reset') this.reset(change);
    else if (this.offset === undefined) this.flaw(`${change._tag} ${change.offset} before the first reset`);
    else this.follow(change, this.offset);
    this.most = Math.max(this.most, this.states.size);
  }

  private follow(change: Exclude<ContractChange, Reset>, after: number): void {
    const { _tag, offset } = change;
    const at = `${_tag} ${offset}`;
    if (offset < after) this.flaw(`${at} after ${after}`);
    const isChange = _tag === 'ContractsChanged';
    if (isChange && change.reason === undefined && offset === after) this.flaw(`${at} once more`);
    if (isChange && change.reason !== undefined && change.reason !== 'selectionChanged')
      this.flaw(`${at} because of ${change.reason}`);
    this.expectNothingWithin(after, isChange ? offset - 1 : offset, at);
    if (isChange) this.apply(change);
    this.offset = offset;
    this.expectSeen(at);
  }

  private reset({ offset, reason, contracts }: Reset): void {
    this.resets.push(reason);
    if ((this.offset === undefined) !== (reason === 'start')) this.flaw(`a reset by ${reason} at ${offset}`);
    this.offset = offset;
    this.states = new Map(contracts.map((contract) => [contract.contractId, seenOf(contract)]));
    if (this.states.size !== contracts.length) this.flaw(`a contract twice in the reset at ${offset}`);
    this.expectSeen(`the reset at ${offset}`);
  }

  private apply(change: ContractsChanged): void {
    const { offset, reason, added, removed, moved } = change;
    const states = new Map(this.states);
    // that the parties have changed is said also if they see the same
    if (reason === undefined && added.length + removed.length + moved.length === 0)
      this.flaw(`nothing changed at ${offset}`);
    this.changes += 1;
    this.selections += reason === undefined ? 0 : 1;
    for (const contract of removed) {
      if (!isDeepStrictEqual(states.get(contract.contractId), seenOf(contract))) this.flaw(`a removal at ${offset}`);
      states.delete(contract.contractId);
    }
    for (const contract of added) {
      if (states.has(contract.contractId)) this.flaw(`an addition at ${offset} once more`);
      states.set(contract.contractId, seenOf(contract));
    }
    for (const { contract, from } of moved) {
      const before = states.get(contract.contractId);
      if (!isDeepStrictEqual(before?.location, from)) this.flaw(`a move at ${offset}`);
      if (isDeepStrictEqual(before, seenOf(contract))) this.flaw(`a move at ${offset} of nothing`);
      states.set(contract.contractId, seenOf(contract));
    }
    this.states = states;
  }

  /** The contracts are exactly those that some parties see that may be selected now. */
  private expectSeen(at: string): void {
    const offset = this.offset ?? 0;
    const matching = this.selectionsFrom(this.from).filter(({ parties }) =>
      isSame(this.states, this.statesAt(offset, parties)),
    );
    if (matching.length === 0) this.flaw(`${at}: another state: ${describe(this.states)}`);
    else this.from = Math.min(...matching.map(({ index }) => index));
  }

  /** Nothing changes between the offsets, for some parties whose contracts these may be. */
  private expectNothingWithin(after: number, upTo: number, at: string): void {
    const passed = this.history.map(({ offset }) => offset).filter((offset) => offset > after && offset <= upTo);
    const isQuiet = this.selectionsFrom(this.from).some(({ parties }) =>
      [after, ...passed].every((offset) => isSame(this.states, this.statesAt(offset, parties))),
    );
    if (!isQuiet) this.flaw(`${at} without a change after ${after}`);
  }

  /** The parties of each list, and of each two. */
  private selectionsFrom(from: number): { index: number; parties: readonly string[] }[] {
    return this.lists.slice(from).flatMap((list, i) =>
      this.lists.slice(from + i).map((later) => ({
        index: from + i,
        parties: list.filter((party) => later.includes(party)),
      })),
    );
  }

  private statesAt(offset: number, parties: readonly string[]): States {
    const key = `${offset} ${[...parties].sort().join()}`;
    const known = this.known.get(key) ?? this.seenBy(offset, parties);
    this.known.set(key, known);
    return known;
  }

  private seenBy(offset: number, parties: readonly string[]): States {
    return new Map(
      [...contractsAt(this.history, offset)].flatMap(([contractId, state]): [string, Seen][] => {
        const { signatories, observers } = this.plan.stakeholdersOf(contractId);
        const stakeholders = [...new Set([...signatories, ...observers])];
        const witnesses = stakeholders.filter((party) => parties.includes(party)).sort();
        return witnesses.length === 0 ? [] : [[contractId, { ...state, witnesses }]];
      }),
    );
  }

  private flaw(text: string): void {
    this.flaws.push(text);
  }
}

const seenOf = ({ location, reassignmentCounter, createdEvent }: AnyContract): Seen => ({
  location,
  reassignmentCounter,
  witnesses: [...createdEvent.witnessParties].sort(),
});

const isSame = (a: States, b: States): boolean =>
  a.size === b.size && [...a].every(([id, state]) => isDeepStrictEqual(state, b.get(id)));

const describe = (states: States): string =>
  [...states]
    .map(([id, { witnesses }]) => `${id.slice(0, 6)} of ${witnesses.map((each) => each[0]).join('')}`)
    .join('; ');
