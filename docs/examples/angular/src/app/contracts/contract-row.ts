import type { AnyContract } from 'canton-rx/contracts';
import { interned } from '../updates/interned';

/** A contract, as the table shows it. */
export interface ContractRow {
  readonly contract: AnyContract;
  readonly contractId: string;
  /** Its template in all of its versions: `package-name:Module:Entity`. */
  readonly template: string;
  readonly entity: string;
  readonly packageName: string;
  /** Its arguments by name. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly stakeholders: readonly string[];
  /** Where it is; where it comes from and goes to while it is in flight. */
  readonly synchronizers: readonly string[];
  readonly isInFlight: boolean;
  readonly createdAt: string;
  readonly offset: number;
}

export function contractRow(contract: AnyContract): ContractRow {
  const { contractId, templateId, packageName, signatories, observers, location, createdAt, offset } = contract;
  const isInFlight = 'inFlight' in location;
  return {
    contract,
    contractId,
    template: interned(packageName + templateId.slice(templateId.indexOf(':'))),
    entity: interned(templateId.slice(templateId.lastIndexOf(':') + 1)),
    packageName,
    fields: fieldsOf(contract.createdEvent.createArgument),
    stakeholders: [...signatories, ...observers],
    synchronizers: isInFlight ? [location.inFlight.source, location.inFlight.target] : [location.synchronizerId],
    isInFlight,
    createdAt,
    offset,
  };
}

/** What the text filter searches of a row, in lower case. */
interface Searched {
  readonly text: string;
  /** The ids of the contract and of what its arguments name. */
  readonly ids: readonly string[];
}

const searched = new WeakMap<ContractRow, Searched>();

/** Whether a row has a word, in lower case. Ids match by their start, all other text by any part. */
export function hasWord(row: ContractRow, word: string): boolean {
  const { text, ids } = searchedOf(row);
  return text.includes(word) || ids.some((id) => id.startsWith(word));
}

/** Made when it is first searched, since most rows never are. */
function searchedOf(row: ContractRow): Searched {
  const known = searched.get(row);
  if (known !== undefined) return known;
  const all = `${row.template} ${JSON.stringify(row.fields)}`.toLowerCase();
  const made = {
    // the name of a party is text, and its fingerprint is an id
    text: all.replaceAll(id, ' '),
    ids: [row.contractId, ...row.stakeholders.map((party) => party.toLowerCase()), ...(all.match(id) ?? [])],
  };
  searched.set(row, made);
  return made;
}

/** A fingerprint, or the id of a contract: a long row of hexadecimal digits. */
const id = /[0-9a-f]{32,}/g;

const fieldsOf = (argument: unknown): Readonly<Record<string, unknown>> =>
  typeof argument === 'object' && argument !== null && !Array.isArray(argument)
    ? (argument as Readonly<Record<string, unknown>>)
    : {};
