/** Histories of contracts with several stakeholders, and what a participant shows of them to some parties. */
import fc from 'fast-check';
import { entriesAt, type HistoryUpdate } from './contractHistory.js';
import { type ContractsWorld, contractsWorld } from './virtualContracts.js';

export const allParties = ['alice::1220ab', 'bob::1220cd', 'carol::1220ef'] as const;

/** Who has a stake in a contract. */
export interface Stakeholders {
  readonly signatories: readonly string[];
  readonly observers: readonly string[];
}

const someParties = (minLength: number): fc.Arbitrary<string[]> => fc.subarray([...allParties], { minLength });

/** Lists of parties, also the empty one. */
export const partyLists: fc.Arbitrary<readonly string[]> = someParties(0);

/** The stakeholders of each contract of a history, by its ID. */
export const stakeholderRules: fc.Arbitrary<(contractId: string) => Stakeholders> = fc
  .array(fc.record({ signatories: someParties(1), observers: someParties(0) }), { minLength: 1, maxLength: 6 })
  .map((table) => (contractId) => {
    const index = Array.from(contractId).reduce((sum, letter) => sum * 31 + (letter.codePointAt(0) ?? 0), 7);
    return table[index % table.length] ?? { signatories: [allParties[0]], observers: [] };
  });

/**
 * A participant as some parties know it: it shows them the contracts of which they are stakeholders, names no other party as
 * a witness or as the submitter of a reassignment, and skips updates that do not concern them.
 */
export function worldOf(
  parties: readonly string[],
  stakeholdersOf: (contractId: string) => Stakeholders,
): ContractsWorld & { readonly append: (update: HistoryUpdate) => void } {
  const world = contractsWorld({ latencyMs: 5 });
  const history: HistoryUpdate[] = [];
  const { participant } = world;
  const { sees, show } = shownTo(parties, stakeholdersOf);
  participant.elementsAt = (offset) => entriesAt(history, offset).filter(sees).map(show);
  return {
    ...world,
    append: (update) => {
      history.push(update);
      const element = show(update.element);
      if (idOf(element) === undefined) participant.ledger.end = update.offset;
      else participant.append({ ...update, element });
    },
  };
}

/**
 * Returns a function that shows a request what its parties see of an element, for a participant that serves all of them.
 *
 * @param stakeholdersOf - the stakeholders of each contract, by its ID
 */
export function showTo(
  stakeholdersOf: (contractId: string) => Stakeholders,
): (element: object, body: Readonly<Record<string, unknown>>) => object | undefined {
  const known = new Map<string, WeakMap<object, { readonly shown: object | undefined }>>();
  return (element, body) => {
    const parties = partiesIn(body);
    const key = [...parties].sort().join();
    const cached = known.get(key) ?? new WeakMap<object, { readonly shown: object | undefined }>();
    known.set(key, cached);
    const before = cached.get(element);
    if (before !== undefined) return before.shown;
    const { sees, show } = shownTo(parties, stakeholdersOf);
    const partial = sees(element) || isUpdate(element) ? show(element) : undefined;
    const shown = partial !== undefined && idOf(partial) === undefined ? undefined : partial;
    cached.set(element, { shown });
    return shown;
  };
}

/** Whether an element may have several contracts. */
const isUpdate = (element: object): boolean => 'update' in element;

/** The parties of a request. */
export function partiesIn(body: object): readonly string[] {
  for (const [name, part] of Object.entries(body)) {
    if (typeof part !== 'object' || part === null) continue;
    if (name === 'filtersByParty') return Object.keys(part as object);
    const found = partiesIn(part as object);
    if (found.length > 0) return found;
  }
  return [];
}

/** The ID of the first contract in something. */
const idOf = (value: unknown): string | undefined => /"contractId":"([^"]*)"/.exec(JSON.stringify(value))?.[1];

/** Whether parties see an event or an entry, and what they see of it. */
function shownTo(parties: readonly string[], stakeholdersOf: (contractId: string) => Stakeholders) {
  const sees = (event: unknown): boolean => {
    const contractId = idOf(event);
    if (contractId === undefined) return true;
    const { signatories, observers } = stakeholdersOf(contractId);
    return parties.some((party) => signatories.includes(party) || observers.includes(party));
  };
  const partOf = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.filter(sees).map(partOf);
    return typeof value === 'object' && value !== null ? show(value) : value;
  };
  const show = (json: object): object => {
    const shown: Record<string, unknown> = Object.fromEntries(
      Object.entries(json).map(([name, part]) => [name, partOf(part)]),
    );
    const { contractId, submitter, witnessParties, createArgument } = shown;
    if (typeof submitter === 'string' && !parties.includes(submitter)) shown['submitter'] = '';
    if (typeof contractId !== 'string' || witnessParties === undefined) return shown;
    const { signatories, observers } = stakeholdersOf(contractId);
    const stakeholders = [...new Set([...signatories, ...observers])];
    return {
      ...shown,
      witnessParties: stakeholders.filter((party) => parties.includes(party)),
      ...(createArgument !== undefined && { signatories, observers }),
    };
  };
  return { sees, show };
}
