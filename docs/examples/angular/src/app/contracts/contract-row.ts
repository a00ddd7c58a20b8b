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

const texts = new WeakMap<ContractRow, string>();

/** What the text filter searches, in lower case: made when it is first searched, since most rows never are. */
export function textOf(row: ContractRow): string {
  const known = texts.get(row);
  if (known !== undefined) return known;
  const text = `${row.contractId} ${row.template} ${JSON.stringify(row.fields)}`.toLowerCase();
  texts.set(row, text);
  return text;
}

const fieldsOf = (argument: unknown): Readonly<Record<string, unknown>> =>
  typeof argument === 'object' && argument !== null && !Array.isArray(argument)
    ? (argument as Readonly<Record<string, unknown>>)
    : {};
