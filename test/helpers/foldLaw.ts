import { expect } from '@jest/globals';
import { either as E } from 'fp-ts';
import type * as t from 'io-ts';
import { ContractElement, type ContractEntry } from '../../src/codecs/ContractEntry.js';
import { formatProblem, problemsOf } from '../../src/codecs/Problem.js';
import type { Reassignment } from '../../src/codecs/Reassignment.js';
import type { Transaction } from '../../src/codecs/Transaction.js';
import { UpdateElement } from '../../src/codecs/Update.js';
import type { AnyContract } from '../../src/contracts/Contract.js';
import type { ContractsChanged } from '../../src/contracts/ContractChange.js';
import type { ContractsFold } from '../../src/contracts/ContractsFold.js';
import { created, transactionOf } from './contractEvents.js';
import { contractsAt, type ContractState, entriesAt, type HistoryUpdate } from './contractHistory.js';

/**
 * The law of the fold: from the snapshot at any offset, and after each update that follows, it has the contracts of a full
 * replay, and so has a reader who adds up its changes.
 */
export function checkFold(
  fold: ContractsFold<AnyContract>,
  history: readonly HistoryUpdate[],
  start: number,
  entries: readonly ContractEntry[] = entriesAt(history, start).map(decodeEntry),
): void {
  fold.load(entries);
  fold.settle();
  expect(statesOf(fold.contracts)).toEqual(contractsAt(history, start));
  const reader = new Map([...fold.contracts].map((contract) => [contract.contractId, contract]));
  for (const { offset, element } of history.filter((update) => update.offset > start)) {
    const changed = fold.apply(decodeUpdate(element));
    if (changed !== undefined) {
      expect(changed).toMatchObject({ _tag: 'ContractsChanged', offset, updateId: `1220${offset}` });
      addUp(reader, changed);
    }
    expect(statesOf(fold.contracts)).toEqual(contractsAt(history, offset));
    // the same objects
    expect([...reader].every(([id, contract]) => fold.contracts.get(id) === contract)).toBe(true);
    expect(reader.size).toBe(fold.contracts.size);
  }
  checkDrained(fold, history);
}

/** Applies changes as a reader would, and checks that each says what the reader does not know yet. */
function addUp(reader: Map<string, AnyContract>, { added, removed, moved }: ContractsChanged): void {
  const touched = [...added, ...removed, ...moved.map(({ contract }) => contract)];
  expect(touched.length).toBeGreaterThan(0);
  expect(new Set(touched.map(({ contractId }) => contractId)).size).toBe(touched.length);
  for (const contract of removed) {
    expect(reader.get(contract.contractId)).toBe(contract);
    reader.delete(contract.contractId);
  }
  for (const contract of added) {
    expect(reader.has(contract.contractId)).toBe(false);
    reader.set(contract.contractId, contract);
  }
  for (const { contract, from } of moved) {
    expect(reader.get(contract.contractId)?.location).toEqual(from);
    expect(contract.location).not.toEqual(from);
    reader.set(contract.contractId, contract);
  }
}

/** Once everything was seen, nothing is kept of a spent contract: an import of it is an addition, as of any other. */
function checkDrained(fold: ContractsFold<AnyContract>, history: readonly HistoryUpdate[]): void {
  const end = history.at(-1)?.offset ?? 0;
  const all = new Set(history.flatMap(({ events }) => events.map(({ contractId }) => contractId)));
  const spent = [...all].filter((contractId) => !fold.contracts.has(contractId));
  const offset = end + 1;
  const events = spent.map((contractId, nodeId) => created({ contractId, offset, nodeId }));
  const changed = fold.apply(decodeUpdate(transactionOf(offset, 'sync-z::1220ab', events)));
  expect((changed?.added ?? []).map(({ contractId }) => contractId)).toEqual(spent);
}

/** The contracts of a fold, as the oracle has them. */
export const statesOf = (contracts: Iterable<AnyContract>): Map<string, ContractState> =>
  new Map(
    [...contracts]
      .sort((one, other) => (one.contractId < other.contractId ? -1 : 1))
      .map(({ contractId, location, reassignmentCounter }) => [contractId, { location, reassignmentCounter }]),
  );

/** The entry of an element of a snapshot. */
export const decodeEntry = (element: object): ContractEntry => decode(ContractElement, element).contractEntry;

/** A transaction or a reassignment. */
export function decodeUpdate(element: object): Transaction | Reassignment {
  const update = decode(UpdateElement, element);
  if (update._tag !== 'Transaction' && update._tag !== 'Reassignment')
    throw new Error(`not of contracts: ${update._tag}`);
  return update;
}

function decode<A>(codec: t.Type<A, unknown>, wire: unknown): A {
  const decoded = codec.decode(wire);
  if (E.isLeft(decoded)) throw new Error(problemsOf(decoded.left).map(formatProblem).join('\n'));
  return decoded.right;
}
