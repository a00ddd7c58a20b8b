import { isDeepStrictEqual } from 'node:util';
import type { AnyContract } from '../../../src/contracts/Contract.js';
import type { ContractChange, ContractsChanged, Reset } from '../../../src/contracts/ContractChange.js';
import type { ContractState } from '../../helpers/contractHistory.js';

/** The contracts that there are, by id. */
export type States = ReadonlyMap<string, ContractState>;

/** What a ledger really has. */
export interface Truth {
  readonly statesAt: (offset: number) => States;
  /** The offsets of its updates, in order. */
  readonly offsets: () => readonly number[];
}

/** Compares the changes that a subscriber receives with a full replay of the ledger, after each of them. */
export class ContractsAudit {
  /** What is wrong, in words. */
  readonly flaws: string[] = [];
  /** The changes are complete up to here; `undefined` before the first. */
  offset: number | undefined;
  /** The reasons of the resets. */
  readonly resets: string[] = [];
  /** The number of changes that were not resets. */
  changes = 0;
  private states: States = new Map();
  private isCaughtUp = false;

  /** @param resumeFrom - where the subscriber already has the contracts; `undefined` if it begins with a reset */
  constructor(
    private readonly truth: Truth,
    resumeFrom: number | undefined,
  ) {
    this.offset = resumeFrom;
    if (resumeFrom !== undefined) this.states = truth.statesAt(resumeFrom);
  }

  /** Checks a change, and takes it into account. */
  add(change: ContractChange): void {
    if (change._tag === 'Reset') this.reset(change);
    else if (this.offset === undefined) this.flaw(`${change._tag} ${change.offset} before the first reset`);
    else this.follow(change, this.offset);
  }

  private follow(change: Exclude<ContractChange, Reset>, after: number): void {
    const { _tag, offset } = change;
    const at = `${_tag} ${offset}`;
    if (offset < after) this.flaw(`${at} after ${after}`);
    if (_tag === 'ContractsChanged') {
      if (offset === after) this.flaw(`${at} once more`);
      this.changes += 1;
      this.expectNothingWithin(after, offset - 1, at);
      this.apply(change);
    } else this.expectNothingWithin(after, offset, at);
    if (_tag === 'CaughtUp' || _tag === 'FellBehind') {
      const isCaughtUp = _tag === 'CaughtUp';
      if (isCaughtUp === this.isCaughtUp) this.flaw(`${at} once more`);
      this.isCaughtUp = isCaughtUp;
    }
    this.offset = offset;
    if (!isSame(this.states, this.truth.statesAt(offset))) this.flaw(`${at}: another state`);
  }

  private reset({ offset, reason, contracts }: Reset): void {
    this.resets.push(reason);
    if ((this.offset === undefined) !== (reason === 'start')) this.flaw(`a reset by ${reason} at ${offset}`);
    if (reason !== 'ledgerReset' && offset < (this.offset ?? 0)) this.flaw(`a reset from ${this.offset} to ${offset}`);
    this.offset = offset;
    this.states = new Map(contracts.map((contract) => [contract.contractId, stateOf(contract)]));
    if (this.states.size !== contracts.length) this.flaw(`a contract twice in the reset at ${offset}`);
    if (!isSame(this.states, this.truth.statesAt(offset))) this.flaw(`another state in the reset at ${offset}`);
  }

  private apply(change: ContractsChanged): void {
    const { offset, added, removed, moved } = change;
    const states = new Map(this.states);
    const expectAt = (what: string, contract: AnyContract, before: ContractState | undefined): void => {
      if (!isDeepStrictEqual(states.get(contract.contractId), before))
        this.flaw(`${what} at ${offset} of another state`);
    };
    if (added.length + removed.length + moved.length === 0) this.flaw(`nothing changed at ${offset}`);
    for (const contract of removed) {
      expectAt('a removal', contract, stateOf(contract));
      states.delete(contract.contractId);
    }
    for (const contract of added) {
      expectAt('an addition', contract, undefined);
      states.set(contract.contractId, stateOf(contract));
    }
    for (const { contract, from } of moved) {
      if (!isDeepStrictEqual(states.get(contract.contractId)?.location, from)) this.flaw(`a move at ${offset}`);
      states.set(contract.contractId, stateOf(contract));
    }
    this.states = states;
  }

  /** Nothing changes between the offsets, by the truth. */
  private expectNothingWithin(after: number, upTo: number, at: string): void {
    let before = this.truth.statesAt(after);
    for (const offset of this.truth.offsets()) {
      if (offset <= after || offset > upTo) continue;
      const next = this.truth.statesAt(offset);
      if (!isSame(before, next)) this.flaw(`${at} without the change at ${offset}`);
      before = next;
    }
  }

  private flaw(text: string): void {
    this.flaws.push(text);
  }
}

const stateOf = ({ location, reassignmentCounter }: AnyContract): ContractState => ({
  location,
  reassignmentCounter,
});

const isSame = (a: States, b: States): boolean =>
  a.size === b.size && [...a].every(([id, state]) => isDeepStrictEqual(state, b.get(id)));
