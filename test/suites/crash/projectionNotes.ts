import { readFile } from 'node:fs/promises';
import { type ContractState, idTokenOf, tokenOf } from './children/rows.js';
import type { LedgerStates } from './LedgerStates.js';

/** How a reader has read: in one statement, in one transaction, or as of an offset that it had read before. */
export type ReadWay = 'statement' | 'transaction' | 'past';

/** What a reader has read. */
export interface Observation {
  readonly way: ReadWay;
  readonly offset: number;
  readonly tokens: readonly string[];
}

/** The notes of a reader. One that a kill cut is none. */
export async function readObservations(file: string): Promise<readonly Observation[]> {
  const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line.endsWith(' .'));
  return lines.map((line) => {
    const [way, offset, tokens = ''] = line.split(' ');
    return { way: way as ReadWay, offset: Number(offset), tokens: tokens === '' ? [] : tokens.split(',') };
  });
}

/**
 * Observations that are not the state of the ledger at their offset. At most five.
 *
 * @param ledgers - the ledger, and what it was before it was restored
 */
export function findHalves(ledgers: readonly LedgerStates[], observations: readonly Observation[]): readonly string[] {
  const sorted = observations.toSorted((a, b) => a.offset - b.offset);
  const flaws = ledgers.map((ledger) => sorted.map((observation) => flawOf(ledger, observation)));
  const [first = []] = flaws;
  return first
    .flatMap((flaw, index) => (flaws.every((each) => each[index] !== undefined) ? (flaw ?? []) : []))
    .slice(0, 5);
}

function flawOf(ledger: LedgerStates, { way, offset, tokens }: Observation): string | undefined {
  const contracts = ledger.at(offset);
  const token = (state: ContractState): string => (way === 'past' ? idTokenOf(state.contractId) : tokenOf(state));
  const expected = new Map([...contracts.values()].map((state) => [token(state), state]));
  const found = new Set(tokens);
  const missing = [...expected].flatMap(([each, { contractId }]) => (found.has(each) ? [] : contractId));
  const others = tokens.filter((each) => !expected.has(each)).length;
  const twice = tokens.length - found.size;
  if (missing.length + others + twice === 0) return undefined;
  const [example = ''] = missing;
  return `${way} at ${offset}: of ${expected.size} contracts ${missing.length} are missing or different (${example.slice(0, 20)}), ${others} others, ${twice} twice`;
}
